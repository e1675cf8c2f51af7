package endpoint

// This file holds how lists are cut into pages.

// DemandedPage is the page of a list where the contract demands both parameters. A number
// out of range is refused, as the contract says.
type DemandedPage struct {
	Page     int `query:"page" required:"true" minimum:"1" maximum:"2147483647"`
	PageSize int `query:"pageSize" required:"true" minimum:"1" maximum:"20"`
}

// ClampedPage is the page of a list where clients use several names and ask for
// more than there is: what is out of range is moved into it. A page number that no list
// can have is refused: its rows cannot be counted to.
type ClampedPage struct {
	Page           int `query:"page" maximum:"2147483647"`
	PageNumber     int `query:"pageNumber" maximum:"2147483647" doc:"Alias of page."`
	PageSize       int `query:"pageSize" doc:"Page size, at most 100. Default: 10."`
	PageSizeNumber int `query:"pageSizeNumber" doc:"Alias of pageSize."`
	Limit          int `query:"limit" doc:"Alias of pageSize."`
	PerPage        int `query:"perPage" doc:"Alias of pageSize."`
}

// Sizes of a clamped page.
const (
	defaultPageSize = 10
	MaxPageSize     = 100
)

// Get returns the page, from 1, and its size.
func (p ClampedPage) Get() (page, size int) {
	page = max(p.Page, p.PageNumber, 1)
	// Negative sizes lose against the missing ones, which are 0, and become 1 below.
	size = max(p.PageSize, p.PageSizeNumber, p.Limit, p.PerPage)
	if p.PageSize == 0 && p.PageSizeNumber == 0 && p.Limit == 0 && p.PerPage == 0 {
		size = defaultPageSize
	}
	return page, min(max(size, 1), MaxPageSize)
}

// Pages returns how many pages of a size hold the total. It rounds up; an empty list has 0
// pages. The size is at least 1.
func Pages(total, size int) int { return (total + size - 1) / size }

// TeamInput is the input of a route that names a team; the scope holds the id.
type TeamInput struct {
	TeamID string `path:"teamId" format:"uuid"`
}

// ProjectInput is the input of a route that names a project; the scope holds the id.
type ProjectInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
}

// OrganizationInput is the input of a route that names an organization and nothing
// else; the scope holds the id.
type OrganizationInput struct {
	OrganizationID string `path:"organizationId" format:"uuid"`
}
