package route_test

import (
	"slices"
	"strings"
	"testing"
)

// TestFrameworks reads the routes of one way to declare them at a time. A source is files behind
// lines "-- name --"; the expected text has a sorted line for each route: method, path, what the
// handler reads of the request, and where the handler stands.
func TestFrameworks(t *testing.T) {
	for _, c := range slices.Concat(pythonRoutes, scriptRoutes, goRoutes, jvmRoutes, otherRoutes) {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, r := range read(t, c.source) {
				got = append(got, show(r))
			}
			slices.Sort(got)
			if s := strings.Join(got, "\n"); s != strings.TrimPrefix(c.want, "\n") {
				t.Errorf("got\n%s\nwant%s", s, c.want)
			}
		})
	}
}

// A frameworkCase is a program with its routes.
type frameworkCase struct{ name, source, want string }

var pythonRoutes = []frameworkCase{
	{"flask, methods of the decorator", `-- app.py --
from flask import Flask, request
app = Flask(__name__)

@app.get('/items')
def items():
    return request.args.get('page')

@app.route('/items', methods=['PUT'])
def change():
    return request.form.get('name') + request.headers['X-Token']

@app.route('/plain')
def plain():
    return request.values['any'] + request.cookies.get('sid')
`, `
GET /items query:page app.py:4
GET /plain query:any cookie:sid app.py:12
PUT /items form:name header:X-Token app.py:8`},
	{"flask, a rule without a decorator", `-- app.py --
from flask import Flask, request
app = Flask(__name__)

def show(name):
    return request.args['q']

app.add_url_rule('/show/<name>', 'show', show)
`, `/show/{name} path:name query:q app.py:4`},
	{"flask, a variable that holds a part of the request", `-- app.py --
from flask import Flask, request
app = Flask(__name__)

@app.post('/order')
def order():
    form = request.form
    body = request.get_json() or {}
    return form['count'] + body['item']
`, `POST /order form:count json:/item app.py:4`},
	{"flask, a function that reads nothing of a request", `-- app.py --
from flask import Flask
app = Flask(__name__)

@app.route('/time')
def now():
    settings = {'a': 1}
    return settings['a']
`, `GET /time  app.py:4`},
	{"flask, a path that is a constant", `-- app.py --
from flask import Flask, request
app = Flask(__name__)
BASE = '/base'

@app.route(BASE + '/x')
def x():
    return request.args['q']
`, `GET /base/x query:q app.py:5`},
	{"fastapi, parameters of the path, the query and the body", `-- main.py --
from fastapi import FastAPI, Query, Path, Header, Cookie
app = FastAPI()

@app.get('/users/{user_id}')
def show(user_id: int = Path(), limit: int = Query(10, alias='max'), sid: str = Cookie(None)):
    return user_id

@app.put('/users/{user_id}')
def change(user_id: int, token: str = Header()):
    return token
`, `
GET /users/{user_id} path:user_id query:max cookie:sid main.py:4
PUT /users/{user_id} path:user_id header:token main.py:8`},
	{"django, a class based view with several methods", `-- shop/urls.py --
from django.urls import path
from shop.views import Cart
urlpatterns = [path('cart/<slug:name>', Cart.as_view())]
-- shop/views.py --
from django.views import View

class Cart(View):
    def get(self, request, name):
        return request.GET.get('page')

    def delete(self, request, name):
        return request.headers['X']
`, `
DELETE /cart/{name} path:name header:X shop/views.py:7
GET /cart/{name} path:name query:page shop/views.py:4`},
	{"django, an url with a regular expression", `-- urls.py --
from django.conf.urls import url
from views import year
urlpatterns = [url(r'^articles/(?P<year>[0-9]{4})/$', year)]
-- views.py --
def year(request, year):
    return request.COOKIES['seen']
`, `/articles/{year}/ path:year cookie:seen views.py:1`},
	{"django rest framework, actions of a view set", `-- views.py --
from rest_framework.decorators import api_view

@api_view(['POST'])
def create(request):
    return request.data['title']
-- urls.py --
from django.urls import path
import views
urlpatterns = [path('create/', views.create)]
`, `/create/ json:/title views.py:3`},
	{"tornado, a handler of a table", `-- app.py --
import tornado.web

class Main(tornado.web.RequestHandler):
    def get(self):
        self.write('a')

    def post(self):
        self.write('b')

application = tornado.web.Application([(r'/main', Main)])
`, `
GET /main  app.py:4
POST /main  app.py:7`},
	{"aiohttp, routes of the router", `-- app.py --
from aiohttp import web

async def show(request):
    return web.Response(text=request.query['q'] + request.match_info['id'])

app = web.Application()
app.router.add_get('/show/{id}', show)
`, `GET /show/{id} path:id query:q app.py:3`},
	{"bottle, a route of the module", `-- app.py --
from bottle import route, request

@route('/hello/<name>', method='POST')
def hello(name):
    return request.forms.get('greeting')
`, `POST /hello/{name} path:name form:greeting app.py:3`},
}

var scriptRoutes = []frameworkCase{
	{"express, one path with several methods", `-- app.js --
const app = require('express')();
app.route('/book/:id')
  .get((req, res) => res.send(req.query.edition))
  .put((req, res) => res.send(req.body.title));
`, `
GET /book/{id} path:id query:edition app.js:3
PUT /book/{id} path:id json:/title app.js:4`},
	{"express, all methods", `-- app.js --
const app = require('express')();
app.all('/any', (req, res) => { res.send(req.param('q')); });
`, `/any query:q app.js:2`},
	{"express, a router in a router", `-- app.js --
const express = require('express');
const app = express();
const outer = express.Router();
const inner = express.Router();
inner.post('/leaf', (req, res) => res.send(req.body.x));
outer.use('/inner', inner);
app.use('/outer', outer);
`, `POST /outer/inner/leaf json:/x app.js:5`},
	{"express, a router of a module that exports it as default", `-- app.ts --
import express from 'express';
import users from './users';
const app = express();
app.use('/users', users);
-- users.ts --
import { Router } from 'express';
const router = Router();
router.get('/me', (req, res) => { res.json(req.headers.authorization); });
export default router;
`, `GET /users/me header:authorization users.ts:3`},
	{"express, a handler that a wrapper is given", `-- app.js --
const app = require('express')();
const wrap = f => (req, res, next) => f(req, res).catch(next);
app.get('/wrapped', wrap(async (req, res) => { res.send(req.query.q); }));
`, `GET /wrapped query:q app.js:3`},
	{"express, names that a pattern takes out of the parameter", `-- app.js --
const app = require('express')();
app.post('/login', ({ body }, res) => {
  const { user, password } = body;
  res.send(user + password);
});
`, `POST /login json:/user json:/password app.js:2`},
	{"express, keys that are no names", `-- app.js --
const app = require('express')();
app.post('/k', (req, res) => { res.send(req.body['a/b'] + req.body['c~d'] + req.get('no') + req.header('X-Y')); });
`, `POST /k json:/a~1b json:/c~0d header:X-Y app.js:2`},
	{"express, a call of the client is no route", `-- client.js --
$.post('/save', function (data) { show(data.query.q); });
axios.get('/load').then(function (res) { show(res.body.x); });
fetch('/x', function (req) { return req.query.q; });
`, ""},
	{"koa, the routes of a router", `-- app.js --
const Koa = require('koa');
const Router = require('koa-router');
const app = new Koa();
const router = new Router({ prefix: '/v1' });
router.get('/users/:id', async ctx => { ctx.body = ctx.params.id + ctx.query.q + ctx.request.body.name; });
app.use(router.routes());
`, `GET /v1/users/{id} path:id query:q json:/name app.js:5`},
	{"hapi, an object for each route", `-- server.js --
server.route([
  { method: 'GET', path: '/a/{id}', handler: (request, h) => request.params.id },
  { method: ['POST', 'PUT'], path: '/b', options: { handler: (request, h) => h.response(1) } },
]);
`, `
GET /a/{id} path:id server.js:2
POST /b  server.js:3
PUT /b  server.js:3`},
	{"fastify, options in front of the handler", `-- app.js --
const fastify = require('fastify')();
fastify.post('/x', { schema }, async (request, reply) => request.body.name);
fastify.get('/y', { handler: async (request) => request.query.q });
`, `
GET /y query:q app.js:3
POST /x json:/name app.js:2`},
	{"next, a route that catches all", `-- pages/api/[...rest].ts --
export default (req, res) => { res.send(req.body.x); };
`, `/api/{rest} path:rest json:/x pages/api/[...rest].ts:1`},
	{"nest, a controller without a path", `-- items.ts --
@Controller()
export class Items {
  @Get('items')
  list(@Headers('x-token') token: string, @Req() request: Request) { return request.query.page; }
  @Delete('items/:id')
  remove(@Param('id') id: string) {}
}
`, `
DELETE /items/{id} path:id items.ts:5
GET /items query:page header:x-token items.ts:3`},
	{"nest, several paths", `-- items.ts --
@Controller({ path: 'v2' })
export class Items {
  @Get(['a', 'b'])
  list(@Query('q') q: string) {}
}
`, `
GET /v2/a query:q items.ts:3
GET /v2/b query:q items.ts:3`},
}

var goRoutes = []frameworkCase{
	{"go, methods of the pattern", `-- main.go --
package main

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /items/{id}", show)
	mux.Handle("/old", http.HandlerFunc(old))
	mux.HandleFunc("example.org/host", show)
}

func show(w http.ResponseWriter, r *http.Request) { _ = r.PathValue("id") + r.Header.Get("X-A") }

func old(w http.ResponseWriter, r *http.Request) { c, _ := r.Cookie("sid"); _ = c.Value + r.PostFormValue("f") }
`, `
/host path:id header:X-A main.go:10
/old cookie:sid form:f main.go:12
GET /items/{id} path:id header:X-A main.go:10`},
	{"go, a router below another", `-- main.go --
package main

func main() {
	r := mux.NewRouter()
	api := r.PathPrefix("/api").Subrouter()
	api.HandleFunc("/users/{id}", show).Methods("GET", "HEAD")
}

func show(w http.ResponseWriter, r *http.Request) { _ = mux.Vars(r)["id"] }
`, `
GET /api/users/{id} path:id main.go:9
HEAD /api/users/{id} path:id main.go:9`},
	{"go, a group in a group", `-- main.go --
package main

func main() {
	e := echo.New()
	api := e.Group("/api")
	admin := api.Group("/admin")
	admin.POST("/users", func(c echo.Context) error { _ = c.QueryParam("q") + c.FormValue("f"); return nil })
}
`, `POST /api/admin/users query:q form:f main.go:7`},
	{"go, a body that is read into a struct", `-- main.go --
package main

type Login struct {
	User     string ` + "`" + `json:"user"` + "`" + `
	Password string
	Skip     string ` + "`" + `json:"-"` + "`" + `
}

func main() {
	r := gin.New()
	r.POST("/login", login)
	r.Any("/any", login)
}

func login(c *gin.Context) {
	var in Login
	c.ShouldBindJSON(&in)
}
`, `
/any json:/user json:/Password main.go:15
POST /login json:/user json:/Password main.go:15`},
	{"go, chi with a router that is mounted", `-- main.go --
package main

func main() {
	r := chi.NewRouter()
	sub := chi.NewRouter()
	sub.Get("/{id}", func(w http.ResponseWriter, r *http.Request) { _ = chi.URLParam(r, "id") })
	r.Mount("/sub", sub)
}
`, `GET /sub/{id} path:id main.go:6`},
}

var jvmRoutes = []frameworkCase{
	{"spring, the class without a path", `-- C.java --
@Controller
class C {
  @RequestMapping("/a")
  String a(@RequestParam(name = "n", required = false) String name, HttpServletRequest request) {
    return request.getHeader("X-H");
  }
  @PutMapping
  String none(@RequestHeader("X-K") String key) { return key; }
}
`, `
/a header:X-H query:n C.java:3
PUT / header:X-K C.java:7`},
	{"spring, values of the request in types of their own", `-- C.java --
@RestController
class C {
  @PostMapping("/orders/{id}")
  void add(@PathVariable("id") long id, @Valid @RequestBody Order order, @CookieValue("sid") String sid,
      @RequestPart("file") MultipartFile file, BindingResult result) {}
}
class Order { private String item; int count; static int made; }
`, `POST /orders/{id} path:id json:/item json:/count cookie:sid form:file C.java:3`},
	{"spring, constants of another class", `-- C.java --
@RestController
@RequestMapping(path = "/base")
class C {
  static final String LIST = "/list";
  @RequestMapping(value = LIST, method = {RequestMethod.GET, RequestMethod.HEAD})
  void list(@RequestParam int page) {}
}
`, `
GET /base/list query:page C.java:5
HEAD /base/list query:page C.java:5`},
	{"jaxrs, a path of the class and of the method", `-- C.java --
@Path("orders")
class C {
  @GET
  String all(@QueryParam("from") String from, @HeaderParam("X-T") String token) { return from; }
  @DELETE @Path("{id}")
  void remove(@PathParam("id") long id) {}
}
`, `
DELETE /orders/{id} path:id C.java:5
GET /orders query:from header:X-T C.java:3`},
	{"servlet, several patterns", `-- S.java --
@WebServlet(urlPatterns = {"/a", "/b"})
public class S extends HttpServlet {
  protected void doPost(HttpServletRequest req, HttpServletResponse res) { req.getParameterValues("v"); }
}
`, `
POST /a form:v S.java:3
POST /b form:v S.java:3`},
	{"kotlin, spring", `-- C.kt --
@RestController
@RequestMapping("/k")
class C {
  @GetMapping("/{id}")
  fun show(@PathVariable id: Long, @RequestParam q: String): String { return q }
}
`, `GET /k/{id} path:id query:q C.kt:4`},
}

var otherRoutes = []frameworkCase{
	{"laravel, a resource and a closure", `-- routes/web.php --
<?php
Route::get('/closure/{id}', function (Request $request, $id) { return $request->query('q'); });
Route::match(['get', 'post'], '/two', [TwoController::class, 'handle']);
Route::any('/any', 'TwoController@handle');
-- TwoController.php --
<?php
class TwoController { public function handle(Request $request) { return $request->header('X-A'); } }
`, `
/any header:X-A TwoController.php:2
GET /closure/{id} path:id query:q routes/web.php:2
GET /two header:X-A TwoController.php:2
POST /two header:X-A TwoController.php:2`},
	{"laravel, a group in a group", `-- routes/api.php --
<?php
Route::prefix('v1')->group(function () {
  Route::middleware('auth')->prefix('admin')->group(function () {
    Route::delete('/users/{id}', [Users::class, 'remove']);
  });
});
-- Users.php --
<?php
class Users { public function remove(Request $request) { return $request->input('why'); } }
`, `DELETE /v1/admin/users/{id} path:id query:why Users.php:2`},
	{"slim, a group", `-- index.php --
<?php
$app->group('/v1', function ($group) {
  $group->post('/users', function ($request, $response) { return $request->getParsedBody()['name']; });
});
`, `POST /v1/users form:name index.php:3`},
	{"symfony, annotations of two methods", `-- C.php --
<?php
class C {
  #[Route('/a/{id}', methods: ['GET', 'POST'])]
  public function a(Request $request, int $id) { return $request->request->get('f') . $request->headers->get('X-A'); }
  #[Route(path: '/b')]
  public function b(Request $request) { return $request->cookies->get('c'); }
}
`, `
/b cookie:c C.php:5
GET /a/{id} path:id form:f header:X-A C.php:3
POST /a/{id} path:id form:f header:X-A C.php:3`},
	{"php, a file that is no entry point", `-- public/index.php --
<?php
$id = $_REQUEST['id'];
echo $_SERVER['HTTP_X'];
-- src/Model.php --
<?php
class Model { function load() { return $_GET['id']; } }
`, `/index.php query:id public/index.php:1`},
	{"rails, resources in a scope", `-- config/routes.rb --
Rails.application.routes.draw do
  scope '/api' do
    resources :users, only: [:index, :update]
  end
  match '/both', to: 'home#both', via: [:get, :post]
end
-- app/controllers/home_controller.rb --
class HomeController < ApplicationController
  def both
    params.fetch(:x)
  end
end
-- app/controllers/users_controller.rb --
class UsersController < ApplicationController
  def update
    params[:name]
  end
  def index
    params.require(:page) + request.headers['X-A']
  end
end
`, `
GET /api/users query:page header:X-A app/controllers/users_controller.rb:5
GET /both query:x app/controllers/home_controller.rb:2
PATCH /api/users/{id} path:id form:name app/controllers/users_controller.rb:2
POST /both form:x app/controllers/home_controller.rb:2
PUT /api/users/{id} path:id form:name app/controllers/users_controller.rb:2`},
	{"rails, one resource", `-- config/routes.rb --
Rails.application.routes.draw do
  resource :profile, only: [:show, :update]
end
-- app/controllers/profiles_controller.rb --
class ProfilesController < ApplicationController
  def show
    params[:tab]
  end
  def update
    params[:name]
  end
  def destroy
    params[:no]
  end
end
`, `
GET /profile query:tab app/controllers/profiles_controller.rb:2
PATCH /profile form:name app/controllers/profiles_controller.rb:5
PUT /profile form:name app/controllers/profiles_controller.rb:5`},
	{"sinatra, a method and a name", `-- app.rb --
post '/login' do
  params['user'] + cookies[:sid]
end
delete('/x/:id') { params[:id] }
`, `
DELETE /x/{id} path:id app.rb:4
POST /login form:user cookie:sid app.rb:1`},
	{"aspnet, a path that begins at the root", `-- C.cs --
[Route("api/users")]
public class UsersController : ControllerBase {
  [HttpGet("/status/{id}")]
  [HttpGet("mine")]
  public IActionResult Status(int id, [FromHeader(Name = "X-A")] string a) { return Ok(); }
  [HttpPost("~/make")]
  public IActionResult Make([FromForm] string name) { return Ok(); }
}
`, `
GET /api/users/mine query:id header:X-A C.cs:3
GET /status/{id} path:id header:X-A C.cs:3
POST /make form:name C.cs:6`},
	{"aspnet, the action in the path", `-- C.cs --
[Route("[controller]/[action]")]
public class AdminController : ControllerBase {
  [HttpDelete]
  public IActionResult Remove(int id) { return Ok(); }
  private void Helper(string x) { }
}
`, `DELETE /Admin/Remove query:id C.cs:3`},
	{"aspnet, minimal routes in a group", `-- P.cs --
class P {
  void M() {
    var api = app.MapGroup("/api");
    api.MapGet("/items/{id}", (int id, HttpRequest request) => request.Query["q"]);
    app.MapDelete("/items/{id}", (int id) => { });
  }
}
`, `
DELETE /items/{id} path:id P.cs:5
GET /api/items/{id} path:id query:q P.cs:4`},
}
