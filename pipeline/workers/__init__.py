"""Worker hosts: what they are, what they can do, who is alive."""
