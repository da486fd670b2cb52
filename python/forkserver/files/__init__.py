"""Operations on the files of a session, run as jobs inside its sandbox."""
