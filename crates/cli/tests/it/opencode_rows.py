"""Writes the rows of a recording into a database as opencode 1.18 has it: FIXTURE DATABASE."""
import json, sqlite3, sys

fixture, database = sys.argv[1:]
sql = sqlite3.connect(database)
sql.execute("PRAGMA journal_mode = wal")
common = "time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL"
tables = {
    "session": f"id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, title TEXT NOT NULL, version TEXT NOT NULL, {common}",
    "message": f"id TEXT PRIMARY KEY, session_id TEXT NOT NULL, {common}, data TEXT NOT NULL",
    "part": f"id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, {common}, data TEXT NOT NULL",
}
for table, columns in tables.items():
    sql.execute(f"CREATE TABLE {table} ({columns})")
for line in open(fixture):
    operation = json.loads(line)
    if operation["op"] != "row":
        continue
    table, row = operation["table"], operation["row"]
    known = [column.split()[0] for column in tables[table].split(", ")]
    fields = {name: json.dumps(row[name]) if name == "data" else row[name] for name in known if name in row}
    if operation["ev"] == "insert":
        sql.execute(f"INSERT INTO {table} ({', '.join(fields)}) VALUES ({', '.join('?' * len(fields))})", list(fields.values()))
    else:
        sql.execute(f"UPDATE {table} SET {', '.join(name + ' = ?' for name in fields)} WHERE id = ?", [*fields.values(), row["id"]])
sql.commit()
