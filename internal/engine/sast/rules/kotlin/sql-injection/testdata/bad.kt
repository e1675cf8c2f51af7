fun find(db: SQLiteDatabase, name: String) {
    // ruleid: sql-injection
    db.rawQuery("SELECT * FROM users WHERE name = '$name'", null)
    // ruleid: sql-injection
    db.execSQL("DELETE FROM users WHERE name = '" + name + "'")
}
