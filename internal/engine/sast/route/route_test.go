package route_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang/all"
	"merlon/internal/engine/sast/route"
	"merlon/internal/engine/sast/scope"
)

// read reads files given as "-- name --" and text, and returns what the routes are.
func read(t *testing.T, text string) []route.Route {
	t.Helper()
	var facts []*route.Facts
	for _, part := range strings.Split(text, "-- ")[1:] {
		name, src, _ := strings.Cut(part, " --\n")
		l := all.ForFile(name)
		if l == nil {
			t.Fatalf("%s has no language", name)
		}
		f, err := l.Parse(name, []byte(src), cst.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		facts = append(facts, route.Read(scope.Analyze(f, l, nil)))
	}
	slices.Reverse(facts) // the order does not matter
	return route.Join(facts)
}

func show(r route.Route) string {
	var names []string
	for _, p := range r.Parameters {
		names = append(names, p.String())
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s:%d", r.Method, r.Path, strings.Join(slices.Compact(names), " "),
		r.Handler.Path, r.Handler.StartLine))
}

func TestRoutes(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"spring": {`-- C.java --
@RestController
@RequestMapping("/api/v1")
class C {
  static final String P = "/p";
  @GetMapping(value = P + "/users/{id}", produces = "x")
  String get(@PathVariable Long id, @RequestParam("q") String query, String bare, Model model) { return request.getParameter("z"); }
  @RequestMapping(path = {"/a", "/b"}, method = RequestMethod.POST)
  void b(@RequestBody User u) {}
  String helper(@RequestParam String q) { return q; }
}
-- User.java --
class User { private String name; private static int count; private String mail; }
`, `GET /api/v1/p/users/{id} path:id query:z query:q query:bare C.java:5
POST /api/v1/a json:/name json:/mail C.java:7
POST /api/v1/b json:/name json:/mail C.java:7`},
		"jaxrs": {`-- C.java --
@Path("/items")
class C {
  @POST @Path("/{id: [0-9]+}")
  public Response add(@PathParam("id") int id, @FormParam("note") String n, @CookieParam("c") String c) { return null; }
}
`, `POST /items/{id} path:id form:note cookie:c C.java:3`},
		"servlet": {`-- S.java --
@WebServlet(value = "/s-00/T1")
public class S extends HttpServlet {
  public void doGet(HttpServletRequest request, HttpServletResponse response) { doPost(request, response); }
  public void doPost(HttpServletRequest request, HttpServletResponse response) { String p = request.getParameter("p"); String h = request.getHeader("X-H"); }
}
`, `GET /s-00/T1  S.java:3
POST /s-00/T1 form:p header:X-H S.java:4`},
		"flask": {`-- app/__init__.py --
from flask import Flask
from .views import bp
app = Flask(__name__)
app.register_blueprint(bp, url_prefix='/v')
-- app/views.py --
from flask import Blueprint, request
bp = Blueprint('x', __name__, url_prefix='/bp')
@bp.route('/x/<int:id>', methods=['GET', 'POST'])
def h(id):
    data = request.get_json()
    return request.args.get('q') + request.form['f'] + data['n'] + cache.get('no')
`, `GET /v/x/{id} path:id query:q form:f json:/n app/views.py:3
POST /v/x/{id} path:id query:q form:f json:/n app/views.py:3`},
		"fastapi": {`-- main.py --
from fastapi import FastAPI, Form, Header
from routers import items
app = FastAPI()
app.include_router(items.router, prefix="/v1")
-- routers/items.py --
from fastapi import APIRouter
from pydantic import BaseModel
router = APIRouter(prefix="/items")
class Item(BaseModel):
    name: str
    price: float = 0
@router.post("/{item_id}")
async def create(item_id: int, item: Item, q: str = "", x_token: str = Header(), db: Session = Depends(get)):
    pass
`, `POST /v1/items/{item_id} path:item_id json:/name json:/price query:q header:x-token routers/items.py:7`},
		"django": {`-- project/urls.py --
from django.urls import path, include
urlpatterns = [path('api/', include('shop.urls')), re_path(r'^old/(?P<n>\d+)/$', views.old)]
-- shop/urls.py --
from . import views
urlpatterns = [path('items/<int:pk>/', views.item), path('all', views.All.as_view())]
-- shop/views.py --
def item(request, pk):
    return request.GET['q'] + request.POST.get('f')
class All(View):
    def post(self, request):
        return request.POST['x']
def old(request, n):
    return n
`, `/api/items/{pk}/ path:pk query:q form:f shop/views.py:1
POST /api/all form:x shop/views.py:4
/old/{n}/ path:n shop/views.py:6`},
		"express": {`-- app.js --
const express = require('express');
const app = express();
const users = require('./routes/users');
app.use('/api/users', guard, users);
app.get('/t/:x', search());
app.use('/v2', require('./routes/v2'));
function search() { return (req, res) => res.send(req.query.q + req.headers['x-a']); }
$.get('/not', function (d) {});
cache.get('/key');
-- routes/users.js --
const router = require('express').Router();
const c = require('../controllers/user');
router.get('/:id', auth, async (req, res) => { const { a } = req.query; res.send(a + req.params['id']); });
router.route('/').post(c.create).put(c.create);
module.exports = router;
-- routes/v2.js --
const r = new Router({ prefix: '/p' });
r.post('/k', ({ body }, res) => body.name);
module.exports = r;
-- controllers/user.js --
exports.create = (req, res) => { const body = req.body; save(body.mail, req.cookies.sid); };
`, `POST /api/users/ json:/mail cookie:sid controllers/user.js:1
PUT /api/users/ json:/mail cookie:sid controllers/user.js:1
GET /api/users/{id} path:id query:a routes/users.js:3
GET /t/{x} path:x query:q header:x-a app.js:7
POST /v2/p/k json:/name routes/v2.js:2`},
		"express, functions that make routers": {`-- app.js --
var app = require('express')();
const admin = require('./routes/admin');
app.use(require('morgan')('tiny'));
app.use('/shop', require('./routes/shop')());
app.use('/admin', admin(passport));
-- routes/shop.js --
var router = require('express').Router();
module.exports = function () {
  router.get('/search', function (req, res) { res.send(req.query.q); });
  return router;
};
-- routes/admin.js --
module.exports = (passport) => { const r = require('express').Router(); r.post('/ping', (req, res) => run(req.body.host)); return r; };
`, `POST /admin/ping json:/host routes/admin.js:1
GET /shop/search query:q routes/shop.js:3`},
		"nest": {`-- cats.ts --
class CreateCat { name: string; age: number; }
@Controller('cats')
export class Cats {
  @Post(':id/x')
  create(@Param('id') id: string, @Body() dto: CreateCat, @Query('q') q, @Body('k') k) {}
}
`, `POST /cats/{id}/x path:id json:/name json:/age query:q json:/k cats.ts:4`},
		"fastify": {`-- app.js --
fastify.route({ method: 'POST', url: '/login', handler: async (request, reply) => request.body.user });
fastify.register(async (instance) => { instance.get('/x', async (request) => request.query.q); }, { prefix: '/in' });
`, `GET /in/x query:q app.js:2
POST /login json:/user app.js:1`},
		"next": {`-- pages/api/users/[id].js --
export default function handler(req, res) { res.send(req.query.q) }
`, `/api/users/{id} path:id query:q pages/api/users/[id].js:1`},
		"go": {"-- main.go --\npackage m\n" + `func main() {
	r := gin.Default()
	g := r.Group("/v1")
	g.GET("/x/:id", func(c *gin.Context) { c.Query("q"); c.Param("id") })
	http.HandleFunc("POST /x/{id}", s.handle)
	m.HandleFunc("/z", index).Methods("GET", http.MethodPost)
	c.Route("/admin", func(r chi.Router) { r.Get("/u", index) })
}
` + "-- h.go --\npackage m\ntype In struct { Name string `json:\"name\"`; Skip int `json:\"-\"` }\n" + `
func (s *S) handle(w http.ResponseWriter, r *http.Request) { r.URL.Query().Get("q"); r.FormValue("a"); r.PathValue("id") }
func index(w http.ResponseWriter, r *http.Request) { var in In; json.NewDecoder(r.Body).Decode(&in); r.Header.Get("X-A") }
`, `GET /admin/u json:/name header:X-A h.go:5
GET /v1/x/{id} path:id query:q main.go:5
POST /x/{id} path:id query:q form:a h.go:4
GET /z json:/name header:X-A h.go:5
POST /z json:/name header:X-A h.go:5`},
		"laravel": {`-- routes/web.php --
<?php
Route::get('/user/{id}', [UserController::class, 'show']);
Route::prefix('admin')->group(function () { Route::post('x', 'UserController@x'); });
$app->get('/h/{name}', function ($request, $response) { return $request->getQueryParams()['a']; });
-- UserController.php --
<?php
class UserController { public function show(Request $request, $id) { return $request->input('q'); }
  public function x(Request $request) { return $request->post('f') . $request->cookie('c'); } }
`, `POST /admin/x form:f cookie:c UserController.php:3
GET /h/{name} path:name query:a routes/web.php:4
GET /user/{id} path:id query:q UserController.php:2`},
		"symfony": {`-- K.php --
<?php
#[Route('/blog')]
class K { #[Route('/{slug}', name: 'b', methods: ['GET'])]
 public function list(Request $request) { return $request->query->get('a'); } }
`, `GET /blog/{slug} path:slug query:a K.php:3`},
		"php": {`-- src/public/shop/view.php --
<?php echo $_GET['id'] . $_COOKIE["c"]; if (isset($_POST['f'])) { save($_POST['f']); }
-- lib.php --
<?php class L { function x() { return $_GET['id']; } }
`, `/shop/view.php query:id cookie:c form:f src/public/shop/view.php:1`},
		"rails": {`-- config/routes.rb --
Rails.application.routes.draw do
  get 'x/:id', to: 'users#show'
  resources :posts, only: [:index, :create]
  namespace :api do
    post '/y' => 'users#make'
  end
end
-- app/controllers/users_controller.rb --
class UsersController < ApplicationController
  def show
    User.where("id = #{params[:id]} and #{params['q']}")
  end
  def make
    cookies[:c] + params[:name]
  end
end
-- app/controllers/posts_controller.rb --
class PostsController < ApplicationController
  def index
    params[:page]
  end
end
`, `POST /api/y cookie:c form:name app/controllers/users_controller.rb:5
GET /posts query:page app/controllers/posts_controller.rb:2
GET /x/{id} path:id query:q app/controllers/users_controller.rb:2`},
		"sinatra": {`-- app.rb --
get '/hello/:name' do
  params[:name] + params['q']
end
`, `GET /hello/{name} path:name query:q app.rb:1`},
		"aspnet": {`-- C.cs --
[ApiController]
[Route("api/[controller]")]
public class UsersController : ControllerBase {
  [HttpGet("{id}")]
  public IActionResult Get(int id, [FromQuery] string q, [FromBody] User u) { var x = Request.Query["a"]; return Ok(); }
}
public class User { public string Name { get; set; } }
public class HomeController : Controller { public IActionResult About(string text) { return View(); } }
class P { void M() { app.MapPost("/x/{id}", (int id, HttpContext c) => { }); } }
`, `/Home/About query:text C.cs:8
GET /api/Users/{id} path:id query:a query:q json:/Name C.cs:4
POST /x/{id} path:id C.cs:9`},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range read(t, c.source) {
				got = append(got, show(r))
			}
			want := strings.Split(c.want, "\n")
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}
