"""The process that keeps house; several may run at once, since every duty is atomic and idempotent."""
