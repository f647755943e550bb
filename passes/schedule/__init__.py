"""Schedules: from the body of a fusion to kernels with their arguments."""
