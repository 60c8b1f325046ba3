"""A figure against two marks: over the high one it holds, well under the low one it lets go."""

#: Samples in a row, a second apart, at or under the low mark until a hold ends. One sample over the high mark begins
#: it: a sample is a mean over a whole second already (docs/why/backpressure.md has the measurement).
CALM_SAMPLES = 3


class Watermark:
    """Hysteresis: between the marks everything stays as it is.

    Args:
        high_percent: from here on it is over; 100 turns it off.
        low_percent: at or under this for `CALM_SAMPLES` samples in a row it is over no more.
    """

    def __init__(self, high_percent: float, low_percent: float) -> None:
        self._high_percent = high_percent
        self._low_percent = low_percent
        self._calm_samples = 0
        self.is_over = False

    def weigh(self, percent: float | None) -> bool:
        """Take in a sample; return whether the figure counts as over.

        Args:
            percent: None when it could not be measured: who cannot measure works.
        """
        if percent is None or self._high_percent >= 100:
            self.is_over = False
        elif percent >= self._high_percent:
            self._calm_samples, self.is_over = 0, True
        elif percent > self._low_percent:
            self._calm_samples = 0
        else:
            self._calm_samples += 1
            self.is_over = self.is_over and self._calm_samples < CALM_SAMPLES
        return self.is_over
