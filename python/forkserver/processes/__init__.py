"""The processes inside one sandbox, as its init sees them: branches, jobs, programs, and their memory."""
