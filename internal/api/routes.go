package api

// routes is the table of every address: what it is called, what it does, who may
// call it, and which function answers. Handlers stand in one file per resource.
func (a *API) routes() []route {
	return []route{
		op("GET", "/", "getVersion", "Version of the service", open("health probe"), (*API).getVersion),
	}
}
