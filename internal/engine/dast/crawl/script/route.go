package script

import (
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// This file finds the tables of the routers of Angular, AngularJS, React and Vue: objects
// with a path and with what is shown there.

const (
	// maxRoutes bounds the routes of one piece of code.
	maxRoutes = 1000
	// maxNested bounds the tables within tables; real routers nest three or four.
	maxNested = 8
)

// showing contains the members by which an object with a path is a route. A path alone is not
// enough: many objects have one, such as the options of a cookie. Angular: component, loadChildren,
// loadComponent, redirectTo, canActivate. AngularJS: templateUrl, controller. React: element,
// Component, lazy, getComponent. Vue: component, components, redirect.
var showing = map[string]bool{"component": true, "components": true, "Component": true, "element": true,
	"loadChildren": true, "loadComponent": true, "redirectTo": true,
	"redirect": true, "lazy": true, "canActivate": true, "templateUrl": true, "controller": true, "getComponent": true}

// isRouteObject reports whether an object has a member that says what its route shows.
func isRouteObject(object *js.ObjectExpr) bool {
	for _, key := range objectKeys(object) {
		if showing[key] {
			return true
		}
	}
	return false
}

// addRoute adds the route of an object and those of its children, whose paths are relative to it:
// {path: "admin", component: A, children: [{path: "users", component: U}]} gives /admin and
// /admin/users.
func (m *miner) addRoute(above string, object *js.ObjectExpr, depth int) {
	// The walk reaches children again by themselves; then their paths would lack that of the
	// parent.
	if m.routed[object] || depth > maxNested {
		return
	}
	path, has := "", false
	var children *js.ArrayExpr
	for _, p := range object.List {
		if p.Name == nil {
			continue
		}
		switch strings.Trim(p.Name.String(), `"'`) {
		case "path":
			path, has = m.evaluateText(p.Value), true
		case "children", "childRoutes":
			children, _ = m.resolveValue(p.Value).(*js.ArrayExpr)
		}
	}
	if !has || !isRouteObject(object) && children == nil {
		return
	}
	m.routed[object] = true
	at := path
	if !strings.HasPrefix(path, "/") {
		at = strings.TrimSuffix(above, "/") + "/" + path
	}
	// A route with children alone only groups them and shows nothing.
	if isRouteObject(object) {
		m.addRoutePath(at)
	}
	if children == nil {
		return
	}
	for _, e := range children.List {
		if child, ok := e.Value.(*js.ObjectExpr); ok {
			m.addRoute(at, child, depth+1)
		}
	}
}

// addRoutePath adds a path as routers write it: ":id" matches one segment and becomes "1"; a path
// with "*" matches anything, mostly the page for what is not found, and is left out.
func (m *miner) addRoutePath(path string) {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	for i, s := range segments {
		if strings.ContainsAny(s, `*\:`) && !strings.HasPrefix(s, ":") {
			return
		}
		if strings.HasPrefix(s, ":") {
			segments[i] = "1"
		}
	}
	at := "/" + strings.Join(segments, "/")
	if at == "/" || !isPlausibleAddress(at) || m.shown[at] || len(m.out.Routes) >= maxRoutes {
		return
	}
	m.shown[at] = true
	m.out.Routes = append(m.out.Routes, at)
}
