package findings

import (
	"merlon/internal/finding"
	"merlon/internal/store/sqldb"
	"merlon/internal/triage"
)

// AddBranches adds that the branch is one of the names, or with nil the reference
// branch of the project p.
func AddBranches(w *sqldb.Condition, db *sqldb.DB, column string, names []string) {
	if names == nil {
		w.And(column + " = p.branch")
		return
	}
	in, arg := db.Dialect.In(column, names)
	w.And(in, arg)
}

// AddDays adds that a row d of branch_daily is of the days, that the filter selects it by
// severity, analysis and branch, and that the settings of the project p show it.
func AddDays(w *sqldb.Condition, db *sqldb.DB, f triage.OverviewFilter, days triage.DateRange) {
	w.And("d.day >= ? AND d.day <= ?", sqldb.DayNumber(days.First), sqldb.DayNumber(days.Last))
	w.And(ShownDays("p"))
	sqldb.AnyOf(w, "d.severity", finding.Severities, f.Severities)
	sqldb.AnyOf(w, "d.analysis", finding.Analyses, f.Analyses)
	AddBranches(w, db, "d.branch", f.Branches)
}

// ShownDays is the condition that the settings of a project, whose hidden severities
// table has, show what a row d of branch_daily counts. Of days before they were counted by
// analysis nothing is hidden.
func ShownDays(table string) string {
	return "(d.analysis = 0 OR (" + table + ".hidden >> (4 * (d.analysis - 1) + d.severity - 1)) & 1 = 0)"
}
