"""Operations of calls: joining and leaving (`joining`), ringing (`ringing`), what sessions do (`sessions`)."""
