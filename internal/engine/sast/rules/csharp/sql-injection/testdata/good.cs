class Orders
{
    void Find(SqlConnection connection, string name)
    {
        var command = new SqlCommand("SELECT * FROM orders WHERE name = @name", connection);
        command.Parameters.AddWithValue("@name", name);
    }

    void More(SqlCommand command, DbContext db, string id)
    {
        command.CommandText = "SELECT * FROM orders " + "WHERE open = 1";
        db.Database.ExecuteSqlInterpolated($"DELETE FROM orders WHERE id = {id}");
    }
}
