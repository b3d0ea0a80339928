"""A student in training beside its teacher."""

from exitwise.compression.trainee import Trainee
from exitwise.modeling import MultiExitForSequenceClassification


class Taught(Trainee):
    """What a Trainer trains where one model learns from another.

    The student alone learns. The teacher is frozen, stays in evaluation mode whatever the Trainer
    says, and is a part only so that it goes to the student's device.

    Args:
        student: all of it is trained.
        teacher: gets no gradient from here on.
    """

    def __init__(
        self,
        student: MultiExitForSequenceClassification,
        teacher: MultiExitForSequenceClassification,
    ) -> None:
        super().__init__()
        self.student = student.requires_grad_(True)
        self.teacher = teacher.requires_grad_(False)
        self.train(student.training)

    def train(self, mode: bool = True) -> "Taught":
        """Training or evaluation mode, of the student alone."""
        super().train(mode)
        self.teacher.eval()
        return self
