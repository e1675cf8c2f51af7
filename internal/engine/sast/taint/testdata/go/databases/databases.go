package databases

import (
	"context"
	"net/http"

	"github.com/Masterminds/squirrel"
	"github.com/beego/beego/v2/client/orm"
	"github.com/go-pg/pg/v10"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rqlite/gorqlite"
	"github.com/uptrace/bun"
)

func builders(w http.ResponseWriter, r *http.Request) {
	a := r.FormValue("a")
	squirrel.Select("*").From("users").Where("name = '" + a + "'") // want sql
	squirrel.Select("*").From("users").Where(squirrel.Eq{"name": a})
	squirrel.Expr(a) // want sql
}

func drivers(w http.ResponseWriter, r *http.Request, pool *pgxpool.Pool, conn *gorqlite.Connection, db *bun.DB) {
	ctx, a := context.Background(), r.FormValue("a")
	pool.Query(ctx, "select "+a) // want sql
	pool.Query(ctx, "select $1", a)
	conn.QueryOne(a)                 // want sql
	db.NewSelect().Where("x = " + a) // want sql
	db.NewSelect().Where("x = ?", a)
	pg.Connect(nil).Exec("delete from x where y = " + a) // want sql
	orm.NewOrm().Raw("select " + a)                      // want sql
}
