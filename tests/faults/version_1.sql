-- The tables of a ledger of version 1 as they were first written, in SQLite's own words.
CREATE TABLE discreet_schema (
	version INTEGER NOT NULL, 
	PRIMARY KEY (version)
);

CREATE TABLE discreet_journal (
	number INTEGER NOT NULL, 
	token TEXT, 
	body TEXT NOT NULL, 
	detail TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (token)
);

CREATE TRIGGER discreet_schema_no_update BEFORE UPDATE ON discreet_schema BEGIN SELECT RAISE(ABORT, 'discreet_schema is append-only'); END;

CREATE TRIGGER discreet_schema_no_delete BEFORE DELETE ON discreet_schema BEGIN SELECT RAISE(ABORT, 'discreet_schema is append-only'); END;

CREATE TRIGGER discreet_journal_no_update BEFORE UPDATE ON discreet_journal BEGIN SELECT RAISE(ABORT, 'discreet_journal is append-only'); END;

CREATE TRIGGER discreet_journal_no_delete BEFORE DELETE ON discreet_journal BEGIN SELECT RAISE(ABORT, 'discreet_journal is append-only'); END;

CREATE TRIGGER discreet_journal_in_order BEFORE INSERT ON discreet_journal WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM discreet_journal) OR EXISTS (SELECT 1 FROM discreet_journal WHERE token = NEW.token) BEGIN SELECT RAISE(ABORT, 'discreet_journal is written in order'); END;

