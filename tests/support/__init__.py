"""What tests share: servers, clocks, and the parts of fairlane put together."""
