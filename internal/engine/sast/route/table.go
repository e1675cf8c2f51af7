package route

import (
	"strconv"
	"strings"
)

// This file holds what frameworks call things.

// itoa is the key of a declaration.
func itoa(i int32) string { return strconv.Itoa(int(i)) }

// tables are what is known of a language's frameworks. They are data: a framework with usual
// shapes needs no code.
type tables struct {
	annotations bool // handlers bear annotations with paths
	python      bool // decorators call methods of the application
	// containers are parts of a request by the last parts of their names, and where
	// their values come from.
	containers map[string]string
	// roots are what the containers are members of; none: a parameter of a function.
	roots map[string]bool
	// getters are methods of containers that take a name.
	getters map[string]bool
	// calls are methods that take the name of a parameter, and where it comes from.
	calls map[string]string
	// second are functions that take the request first, and then the name.
	second map[string]string
	// bodies are calls that read the body into an argument, or return it.
	bodies map[string]bool
}

// wordSet makes a set. The lists below are easier to read as one text.
func wordSet(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}

// kindTable makes a table of "in: names" pairs. A name may stand in one list only. The lists are
// written by kind since that is how frameworks document them; lookups go by name.
func kindTable(pairs ...string) map[string]string {
	out := map[string]string{}
	for _, p := range pairs {
		in, names, _ := strings.Cut(p, ":")
		for _, n := range strings.Fields(names) {
			out[n] = in
		}
	}
	return out
}

var scripts = &tables{
	annotations: true,
	containers: kindTable("query: query", "json: body", "path: params", "cookie: cookies signedCookies",
		"header: headers",
		"query: searchParams"),
	getters: wordSet("get getAll"),
	calls:   kindTable("header: header", "any: param"),
}

var jvm = &tables{
	annotations: true,
	containers:  map[string]string{},
	calls: kindTable("any: getParameter getParameterValues", "query: queryParam queryParams",
		"path: pathParam pathVariable", "form: formParam formParams",
		"header: getHeader getHeaders getHeaderString headers header", "cookie: cookie"),
}

var languageTables = map[string]*tables{
	"javascript": scripts,
	"typescript": scripts,
	"java":       jvm,
	"kotlin":     jvm,
	"scala":      jvm,
	"python": {
		python: true,
		containers: kindTable("query: args GET query_params query", "form: form POST forms", "any: values params",
			"json: json data JSON",
			"cookie: cookies COOKIES", "header: headers", "path: match_info view_args path_params"),
		roots:   wordSet("request req self.request flask.request"),
		getters: wordSet("get getlist getall get_list pop getone"),
		calls:   kindTable("any: get_argument get_query_argument get_body_argument", "cookie: get_cookie"),
		bodies:  wordSet("get_json json"),
	},
	"go": {
		containers: kindTable("query: Query", "form: PostForm", "any: Form", "header: Header", "path: Vars"),
		getters:    wordSet("Get Values Has"),
		calls: kindTable("any: FormValue", "form: PostFormValue PostForm DefaultPostForm GetPostForm "+
			"FormFile", "path: PathValue Param Params ByName",
			"query: Query DefaultQuery GetQuery QueryParam QueryArray", "header: GetHeader", "cookie: Cookie Cookies"),
		second: kindTable("path: URLParam"),
		bodies: wordSet("BindJSON ShouldBindJSON Bind ShouldBind BodyParser Decode"),
	},
	"php": {
		annotations: true,
		containers: kindTable("query: $_GET query getQueryParams", "form: $_POST request getParsedBody",
			"any: $_REQUEST",
			"cookie: $_COOKIE cookies getCookieParams",
			"header: headers"),
		roots:   wordSet("$request $req $this.request"),
		getters: wordSet("get"),
		calls: kindTable("any: input get", "form: post", "query: query getQueryParam", "cookie: cookie",
			"header: header getHeaderLine", "form: getParsedBodyParam"),
	},
	"ruby": {
		containers: kindTable("any: params", "cookie: cookies", "header: headers"),
		roots:      wordSet("request"),
		getters:    wordSet("fetch require"),
	},
	"csharp": {
		annotations: true,
		containers: kindTable("query: Query QueryString", "form: Form", "header: Headers", "cookie: Cookies",
			"path: RouteValues Values", "any: Params"),
		roots: wordSet("Request HttpContext.Request context.Request Context.Request ctx.Request RouteData " +
			"this.Request req request"),
		getters: wordSet("Get TryGetValue"),
	},
}

// tablesOf returns what is known of a language; nil for nothing.
func tablesOf(language string) *tables { return languageTables[language] }

// verbs are the methods of requests by the names of what declares routes for them.
var verbs = map[string]string{
	"get": "GET", "post": "POST", "put": "PUT", "delete": "DELETE", "patch": "PATCH", "head": "HEAD",
	"options": "OPTIONS", "del": "DELETE",
}

// mappings are annotations and attributes that declare the route of a method, in lower
// case, and the methods that they are for: "" is any, "?" is told by an argument.
var mappings = map[string]string{
	"getmapping": "GET", "postmapping": "POST", "putmapping": "PUT", "deletemapping": "DELETE", "patchmapping": "PATCH",
	"requestmapping": "?",
	"get":            "GET", "post": "POST", "put": "PUT", "delete": "DELETE", "patch": "PATCH", "head": "HEAD",
	"options": "OPTIONS", "all": "",
	"httpget": "GET", "httppost": "POST", "httpput": "PUT", "httpdelete": "DELETE", "httppatch": "PATCH",
	"httphead": "HEAD",
}

// paths are annotations that tell a path beside the one that tells the method, or of a
// class whose methods are below it, in lower case.
var paths = wordSet("path route requestmapping controller restcontroller jsoncontroller routeprefix")

// bindings are annotations of parameters, in lower case, and where the values come
// from. Of "json" and "any" without a name, the type tells the names.
var bindings = map[string]string{
	"requestparam": "any", "pathvariable": "path", "requestheader": "header", "cookievalue": "cookie",
	"requestbody": "json", "modelattribute": "any",
	"requestpart": "form", "queryparam": "query", "pathparam": "path", "formparam": "form", "headerparam": "header",
	"cookieparam": "cookie",
	"queryvalue":  "query", "body": "json", "header": "header", "headers": "header", "query": "query", "param": "path",
	"bodyparam": "json",
	"fromquery": "query", "fromroute": "path", "frombody": "json", "fromform": "form", "fromheader": "header",
	"cookie": "cookie",
}

// defaults are calls that stand as the default of a parameter of a handler (FastAPI).
var defaults = map[string]string{"Query": "query", "Path": "path", "Form": "form", "Body": "json", "Header": "header",
	"Cookie": "cookie", "File": "form"}

// injected are types of parameters that frameworks give to handlers, and that are no
// values of the request.
var injected = wordSet(`
	HttpServletRequest HttpServletResponse ServletRequest ServletResponse Model ModelMap ModelAndView
	BindingResult Errors HttpSession Principal Authentication Locale RedirectAttributes WebRequest
	NativeWebRequest MultipartFile SessionStatus UriComponentsBuilder Request Response BackgroundTasks
	Session HttpContext HttpRequest HttpResponse CancellationToken ClaimsPrincipal ILogger IFormFile
	SecurityContext UriInfo HttpHeaders ServerHttpRequest ServerWebExchange InputStream OutputStream
	Reader Writer WebSocket AsyncSession Context`)

// scalars are types of one value.
var scalars = wordSet(`
	String string str int Integer long Long double Double float Float bool boolean Boolean Int short
	Short byte UUID Guid decimal Decimal BigDecimal number any datetime date DateTime LocalDate Optional`)
