"""H14: threads that share a connection of the caller wait for each other; none fails once it is
charged. What a connection cannot do is found out before."""

import threading

import duckdb
import ibis
import pyarrow as pa
import pytest

import discreet as dp

ROWS = pa.table({"k": ["A"] * 500 + ["B"] * 300, "id": list(range(800))})
THREADS, TIMES = 8, 3


@pytest.fixture
def server(postgres_address):
    connection = ibis.postgres.connect(**postgres_address)
    for name in ("shared", "other"):
        connection.create_table(name, ROWS, overwrite=True)
    yield connection
    if not connection.con.closed:
        connection.con.rollback()
        connection.drop_table("shared")
        connection.drop_table("other")
    connection.disconnect()


def questions(table):
    return [
        table.group_by("k", keys=["A", "B"]).agg(n=dp.count()),
        table.bound(max_groups=1, max_rows_per_group=1)
        .group_by("k", keys=["B", "A"])
        .agg(n=dp.count(), s=dp.sum("id", bounds=(0, 800))),
        table.agg(n=dp.count()),
    ]


def counts(result):
    return sorted(row["n"] for row in result.to_dicts())


def ask_at_once(*sources, times=TIMES, many=THREADS):
    """Everything that comes out of many threads; each answer is charged once."""
    tables = [dp.table(source, unit="id") for source in sources]
    tables = [table.bound(max_groups=1, max_rows_per_group=1) for table in tables]
    sessions = [dp.Session(table, budget=dp.Pure(10**9)) for table in tables]
    start, seen = threading.Barrier(many), []

    def work(i):
        asked, table = sessions[i % len(tables)], tables[i % len(tables)]
        start.wait()
        for _ in range(times):
            for query in questions(table):
                try:
                    seen.append(counts(asked.release(query, epsilon=100)))
                except Exception as error:  # any failure is one too many
                    seen.append(type(error).__name__)

    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(many)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=300)  # one that hangs gives no answer
    each = 100 * times * len(questions(tables[0]))
    for i, session in enumerate(sessions):
        assert session.spent == dp.Pure(each * len(range(i, many, len(sessions))))
    return sorted(map(str, seen))


WANTED = sorted(["[300, 500]", "[300, 500]", "[800]"] * THREADS * TIMES)


def test_h14_threads_share_a_postgres_connection(server):
    """H14: catches statements of two threads within each other's transactions: 5 of 8 failed after
    they were charged. Two tables, and two clients of Ibis, share the connection."""
    again = ibis.postgres.from_connection(server.con)
    sources = [server.table("shared"), server.table("other"), again.table("shared")]
    assert ask_at_once(*sources) == WANTED
    assert not [name for name in server.list_tables() if name.startswith("public_")]


def test_h14_threads_share_a_duckdb_relation():
    """H14: catches the same for a relation of the caller's DuckDB."""
    connection = duckdb.connect()
    connection.register("given", ROWS)
    connection.execute("CREATE TABLE kept AS FROM given")
    relations = connection.sql("FROM kept"), connection.sql("FROM kept WHERE true")
    assert ask_at_once(*relations) == WANTED


# Ibis 12 calls what DuckDB 2 calls deprecated; we do not.
@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
def test_h14_threads_share_a_duckdb_of_ibis():
    """H14: catches the same for a DuckDB that Ibis opened."""
    connection = ibis.duckdb.connect()
    connection.con.register("given", ROWS)
    connection.con.execute("CREATE TABLE kept AS FROM given")
    assert ask_at_once(connection.table("kept")) == WANTED


def test_h14_threads_share_a_spark_session(spark):
    """H14: catches passes of Spark that take each other's tables away."""
    frame = spark.createDataFrame(ROWS)
    assert ask_at_once(frame, times=1, many=4) == WANTED[:: 2 * TIMES]


def test_h14_a_query_that_ends_does_not_let_another_speak(spark, caplog):
    """H14: catches a log that is switched on again by whoever ends first: PySpark writes the values
    that a failing query quotes."""
    from pyspark.logger import PySparkLogger

    stored = dp.table(spark.createDataFrame(ROWS)).source.stored
    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    logger.addHandler(caplog.handler)
    passes = [stored.open(["k"]) for _ in range(2)]
    running = [one.batches(one.compile(one.source())) for one in passes]
    for batches in running:
        next(batches)
    running[0].close()
    logger.error("canary")
    assert "canary" not in caplog.text
    running[1].close()
    logger.error("free again")
    assert "free again" in caplog.text
    logger.removeHandler(caplog.handler)


def closed(connection):
    connection.con.close()


def terminated(connection):
    import psycopg

    parameters = connection.con.info.get_parameters()
    with psycopg.connect(**parameters, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [connection.con.info.backend_pid])


def aborted(connection):
    connection.con.execute("BEGIN")
    with pytest.raises(Exception, match="division by zero"):
        connection.con.execute("SELECT 1 / 0")


@pytest.mark.parametrize("broken", [closed, terminated, aborted])
@pytest.mark.parametrize("grouped", [True, False])
def test_h14_a_connection_that_cannot_answer_is_refused_before_the_charge(server, broken, grouped):
    """H14: catches a charge for a connection that is closed, gone, or in a failed transaction."""
    table = dp.table(server.table("shared"))
    session = dp.Session(table, budget=dp.Pure(9))
    query = (table.group_by("k", keys=["A"]) if grouped else table).agg(n=dp.count())
    session.release(query, epsilon=1)
    broken(server)
    with pytest.raises(dp.InvalidArgument, match="a connection that answers"):
        session.release(query, epsilon=1)
    assert session.spent == dp.Pure(1)


@pytest.mark.parametrize("autocommit", [True, False])
def test_h14_a_transaction_of_the_caller_stays_as_it_is(
    request, postgres_address, server, autocommit
):
    """H14: catches a pass that ends the caller's transaction, or begins one that nobody ends."""
    from psycopg.pq import TransactionStatus

    connection = ibis.postgres.connect(**postgres_address, autocommit=autocommit)
    request.addfinalizer(connection.disconnect)  # before the tables are dropped
    table = dp.table(connection.table("shared"))
    session = dp.Session(table, budget=dp.Pure(10**9))
    query = table.group_by("k", keys=["A", "B"]).agg(n=dp.count())
    connection.con.rollback()
    assert counts(session.release(query, epsilon=100)) == [300, 500]
    assert connection.con.info.transaction_status is TransactionStatus.IDLE
    with connection.con.transaction():
        connection.con.execute("DELETE FROM shared WHERE k = 'A'")
        assert counts(session.release(query, epsilon=100)) == [0, 300]
        assert connection.con.info.transaction_status is TransactionStatus.INTRANS
        connection.con.execute("INSERT INTO shared VALUES ('A', 1)")
    assert counts(session.release(query, epsilon=100)) == [1, 300]


def test_h14_who_is_interrupted_while_waiting_stops_nobody_else(server):
    """H14: catches an interrupt of one pass that cancels the query of another."""
    source = dp.table(server.table("shared")).source
    first, second = (source.stored.open(["k"]) for _ in range(2))
    first.prepare()
    failed = []

    def wait():
        try:
            second.prepare()
        except dp.EngineError as error:
            failed.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    cursor = server.con.cursor()
    running = threading.Thread(target=cursor.execute, args=("SELECT pg_sleep(1)",))
    running.start()
    second.interrupt()
    waiting.join()
    running.join()
    assert len(failed) == 1 and cursor.fetchall() == [("",)]
    second.close()
    first.close()
    third = source.stored.open(["k"])
    third.prepare()  # nothing is held any more
    third.close()
