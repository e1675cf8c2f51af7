package route_test

import (
	"strings"
	"testing"
	"time"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang/all"
	"merlon/internal/engine/sast/route"
	"merlon/internal/engine/sast/scope"
)

// Whatever a file holds, reading ends, and every path can be asked for.
func FuzzRead(f *testing.F) {
	names := []string{"a.java", "a.py", "a.js", "a.ts", "a.go", "a.php", "a.rb", "a.cs", "a.kt"}
	for i, src := range []string{
		`@RequestMapping("/a") class C { @GetMapping("/{id}") String get(@RequestParam String q) { return q; } }`,
		"@app.route('/x/<int:id>')\ndef h(id):\n    return request.args['q']\nurlpatterns = [path('a/', " +
			"include('b'))]\n",
		"app.use('/a', app); app.get('/:x', (req, res) => req.query.q); r.route('/y').post(h)",
		"@Controller('c') class C { @Post(':id') m(@Body() b: C) {} }",
		"package p\nfunc f() { g := r.Group(\"/a\"); g = g.Group(\"/b\"); g.GET(\"/c\", func(c *gin.Context) { " +
			"c.Query(\"q\") }) }",
		"<?php Route::prefix('a')->group(function () { Route::get('b', [C::class, 'd']); }); echo $_GET['x'];",
		"get '/a/:b' do params[:b] end\nresources :c do get 'd', on: :member end",
		`[Route("[controller]")] class AController { [HttpGet("{id}")] public int Get(int id) { return Request.Query["q"]; } }`,
		`class C { @GetMapping("/k") fun k(@RequestParam q: String) = q }`,
	} {
		f.Add(i, src)
	}
	f.Fuzz(func(t *testing.T, which int, src string) {
		name := names[uint(which)%uint(len(names))]
		l := all.ForFile(name)
		tree, err := l.Parse(name, []byte(src), cst.Limits{Time: 200 * time.Millisecond})
		if err != nil {
			return
		}
		facts := route.Read(scope.Analyze(tree, l, nil))
		for _, r := range route.Join([]*route.Facts{facts, facts}) {
			if !strings.HasPrefix(r.Path, "/") || strings.ContainsAny(r.Path, " ?#\n\\\"") {
				t.Errorf("path %q", r.Path)
			}
			if r.Handler.Path != name || r.Handler.Start < 0 || r.Handler.End > len(src) {
				t.Errorf("handler %+v", r.Handler)
			}
		}
	})
}
