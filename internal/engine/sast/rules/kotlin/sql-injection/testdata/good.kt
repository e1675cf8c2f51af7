fun find(db: SQLiteDatabase, name: String) {
    db.rawQuery("SELECT * FROM users WHERE name = ?", arrayOf(name))
    db.execSQL("DELETE FROM sessions")
}
