package graphql

import "merlon/internal/finding"

// newRule makes a rule. The classes are those of CWE and OWASP. The texts are what it finds, why that matters and how
// to
// prevent it.
func newRule(id, name string, severity finding.Severity, classes [2]string, texts [3]string) *finding.Rule {
	return &finding.Rule{
		ID: "api/graphql/" + id, Analysis: finding.API, Name: name, ShortDescription: texts[0],
		Description: texts[0] + " " + texts[1], HowToPrevent: texts[2],
		CWE: classes[:1], OWASP: classes[1:], Severity: severity, Confidence: finding.Certain, Language: "GraphQL",
	}
}

var (
	introspection = newRule("introspection", "GraphQL introspection enabled", finding.Low,
		[2]string{"CWE-200", "API9:2023"}, [3]string{
			"The service tells its whole schema to whoever asks.",
			"Types, fields and arguments that no client of the public uses, such as those of administrators, " +
				"are found " +
				"at once. An API that is meant to be public may want this.",
			"Switch introspection off in production (a validation rule such as " +
				"`NoSchemaIntrospectionCustomRule`), and " +
				"give the schema to clients when they are built.",
		})
	suggestions = newRule("field-suggestions", "GraphQL field suggestions enabled", finding.Low,
		[2]string{"CWE-209", "API8:2023"}, [3]string{
			"The service answers a name that it does not know with names of its schema that are alike.",
			"Guessing and being corrected gives the schema even where introspection is off.",
			"Switch suggestions off in production (many libraries have a setting), or remove \"Did you mean\" from " +
				"messages before they are sent.",
		})
	debugging = newRule("stack-trace", "GraphQL errors expose stack traces", finding.Medium,
		[2]string{"CWE-209", "API8:2023"}, [3]string{
			"Errors of the service hold stack traces or debugging data.",
			"They show the paths, libraries and code of the server, and sometimes values, to whoever sends a " +
				"wrong query.",
			"Switch debugging off in production, and make errors in one place: a message for clients and a " +
				"number that " +
				"leads to the entry in the log.",
		})
	console = newRule("console", "Exposed GraphQL console", finding.Low, [2]string{"CWE-489", "API9:2023"}, [3]string{
		"A console for developers answers where everybody can open it.",
		"It makes the service easy to explore, keeps queries in the browser, and loads its scripts from elsewhere in " +
			"many versions.",
		"Switch the console off in production, or serve it behind the sign-in of developers.",
	})
	consoleBypass = newRule("console-protection-bypass", "GraphQL console protected by a client-controlled cookie",
		finding.Medium, [2]string{"CWE-565", "API5:2023"}, [3]string{
			"Whether the service behind a console answers is decided by the text of a cookie that clients can change.",
			"Whoever writes the other word into the cookie passes the protection.",
			"Decide by the session or the role of the user on the server, never by a value that the client holds " +
				"without " +
				"a signature.",
		})
	overGET = newRule("mutation-over-get", "GraphQL mutations accepted over GET (CSRF)", finding.Medium,
		[2]string{"CWE-352", "API8:2023"}, [3]string{
			"The service executes mutations that are sent in an address.",
			"A link or an image of another site is enough to make a user's browser send one with his cookies, and " +
				"addresses end up in logs and histories. GraphQL over HTTP forbids it.",
			"Accept mutations over POST alone, with the type application/json; accept queries over GET with a header " +
				"that other sites cannot set.",
		})
	asForm = newRule("form-content-type", "GraphQL mutations accepted with simple content types (CSRF)", finding.Medium,
		[2]string{"CWE-352", "API8:2023"}, [3]string{
			"The service executes mutations in bodies of types that forms of other sites can send.",
			"A browser sends these without asking the service first, with the cookies of the user: a page of another " +
				"site can change data as him.",
			"Accept application/json alone, or require a header that forms cannot set, and set SameSite on " +
				"cookies of " +
				"sessions.",
		})
	batching = newRule("batching", "GraphQL query batching without limit", finding.Medium,
		[2]string{"CWE-770", "API4:2023"}, [3]string{
			"One request with a list of queries is executed query by query.",
			"Limits by request count one where many are done: passwords and codes are guessed in bulk, and expensive " +
				"queries are multiplied.",
			"Switch batching off where no client uses it, or limit its length, and count operations instead of " +
				"requests " +
				"where attempts are limited.",
		})
	aliases = newRule("aliases", "GraphQL alias overloading", finding.Low, [2]string{"CWE-770", "API4:2023"}, [3]string{
		"A field is executed as often as a query names it under other aliases.",
		"Limits by request count one where many are done: codes are guessed in bulk, and an expensive field is " +
			"multiplied.",
		"Limit aliases and the cost of a query before it is executed, and count attempts where they are made.",
	})
	duplicates = newRule("field-duplication", "GraphQL field duplication", finding.Low,
		[2]string{"CWE-770", "API4:2023"},
		[3]string{
			"A query that repeats the same field many times is accepted.",
			"The answer is the same, but reading, checking and merging grow with each repetition, in some " +
				"libraries with " +
				"its square.",
			"Limit the tokens of a query and its cost before it is validated.",
		})
	directives = newRule("directive-overloading", "GraphQL directive overloading", finding.Low,
		[2]string{"CWE-770", "API4:2023"}, [3]string{
			"A query that repeats a directive at one place is executed, which the specification forbids.",
			"Directives are executed one by one: a small query becomes much work.",
			"Use a library that validates queries as the specification says, and limit the tokens of a query.",
		})
	depth = newRule("depth", "GraphQL query depth not limited", finding.Medium, [2]string{"CWE-674", "API4:2023"},
		[3]string{
			"Types that refer to each other are followed as deep as a query asks.",
			"With lists in the circle the work grows with every level: a query of a few hundred bytes keeps the " +
				"service busy.",
			"Limit the depth and the cost of a query before it is executed.",
		})
	expensive = newRule("resource-intensive-query", "Resource-intensive GraphQL query", finding.Medium,
		[2]string{"CWE-400", "API4:2023"}, [3]string{
			"A short query keeps the service busy for seconds.",
			"A few of them at once, or one that asks for the field under many aliases, leave nothing for others.",
			"Do long work in the background and answer with its number; limit how often and by whom it is begun, and " +
				"give it a cost that counts.",
		})
	unsignedToken = newRule("unsigned-token", "JWT signature not verified", finding.Critical,
		[2]string{"CWE-347", "API2:2023"}, [3]string{
			"A token that nobody has signed is taken for the user whom it names.",
			"Whoever knows a user's name is that user.",
			"Verify the signature with the one algorithm and the keys that the service expects, then issuer, " +
				"audience " +
				"and expiry, before anything of the token is used.",
		})
	denyList = newRule("deny-list-bypass", "GraphQL deny list bypass", finding.Medium,
		[2]string{"CWE-184", "API5:2023"},
		[3]string{
			"A query that the service denies is executed when it is written in another way.",
			"Aliases, names and whitespace do not change what a query does, so lists of texts or names do not stop " +
				"anybody.",
			"Decide by field, in the resolver or a directive of the schema, or accept only stored queries by their " +
				"identifier.",
		})
	openMutation = newRule("open-mutation", "Missing authentication for a GraphQL mutation", finding.High,
		[2]string{"CWE-306", "API2:2023"}, [3]string{
			"A mutation is executed for nobody, while most of the same service ask for a sign-in.",
			"Whoever knows the address can change data.",
			"Check the sign-in in one place before all mutations, and name the open ones there.",
		})
	serverForgery = newRule("server-side-request", "Server-side request forgery (SSRF)", finding.High,
		[2]string{"CWE-918", "API7:2023"}, [3]string{
			"The server sends a request to the address that an argument names.",
			"Whoever sends the query reaches what only the server reaches: services of the internal network, " +
				"and those " +
				"that give credentials to machines in a cloud.",
			"Accept identifiers of known places instead of addresses. Where users must name any address, decide " +
				"on the " +
				"resolved one for each connection, redirects included, and let only public ones pass.",
		})
)

// Rules returns every rule of this package.
func Rules() []*finding.Rule {
	return []*finding.Rule{introspection, suggestions, debugging, console, consoleBypass, overGET, asForm, batching,
		aliases, duplicates, directives, depth, expensive, unsignedToken, denyList, openMutation, serverForgery}
}
