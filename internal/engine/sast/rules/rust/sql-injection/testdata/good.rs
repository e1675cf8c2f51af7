async fn find(pool: &sqlx::PgPool, name: &str) {
    sqlx::query("SELECT * FROM users WHERE name = $1").bind(name).fetch_all(pool).await;
}
