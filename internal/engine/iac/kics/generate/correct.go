package main

import (
	"fmt"
	"strings"
)

// This file corrects queries that fail on valid documents, or take the square of their size. A
// corrected query has the same results.

// A correction replaces a part of a query's text.
type correction struct {
	reason   string
	old, new string
}

// corrections are by the path of the query below the folder of queries.
var corrections = map[string][]correction{
	"openAPI/2.0/property_not_unique": {{
		reason: "each property was compared with each other: 16 s for a description of 900 kB",
		old: `	arr := check_property(doc)
	count(arr[name]) > 1
`,
		new: `	found := [x | [path, value] := walk(doc); value.properties[name]; x := {"name": name, "path": path}]
	names := sort([x.name | x := found[_]])
	repeated := {n | n := names[j]; n == names[j + 1]}
	one := found[_]
	name := one.name
	repeated[name]
`,
	}, {
		old: `[openapi_lib.concat_path(arr[name][_].path), name]`,
		new: `[openapi_lib.concat_path(one.path), name]`,
	}, {
		old: `check_property(doc) = arr {
	propName := [x | [path, value] := walk(doc); value.properties[name]; x := {"name": name, "path": path}]
	arr := {id: objCount |
		id := propName[i].name
		objCount := [obj |
			propName[j].name == id
			obj := propName[j]
		]
	}
}
`,
	}},
	"openAPI/2.0/unknown_property": {{
		reason: "each value was compared with the name of each object of the specification",
		old: `	[path, value] := walk(doc)

	field := path[0]
	field != "id"
`,
		new: `	_ = doc[field]
	field != "id"
`,
	}, {
		old: `	objValues := array_objects[object]

	#index := {"array": 1, "simple": 1, "map": 2}
	path[minus(count(path), 1)] == object

	is_array(value)
`,
		new: `	is_array(value)
	object := path[minus(count(path), 1)]
	objValues := array_objects[object]
`,
	}, {
		old: `	objectValues := {"simple": simple_objects, "map": map_objects}
	objValues := objectValues[objType][object]

	index := {"simple": 1, "map": 2}
	path[minus(count(path), index[objType])] == object

`,
		new: `	index := {"simple": 1, "map": 2}
	object := path[minus(count(path), index[objType])]
	objectValues := {"simple": simple_objects, "map": map_objects}
	objValues := objectValues[objType][object]

`,
	}},
	"k8s/volume_mount_with_os_directory_write_permissions": {{
		reason: "the function has two values for a pod with both kinds of volumes, which is an error",
		old:    `    x := k` + "\n",
		new:    `    x := "safe"` + "\n",
	}},
}

// correctQuery returns the text of a query with its corrections. A text that lacks what is replaced
// belongs to another version of the library: the correction has to be made again.
func correctQuery(name, text string) (string, error) {
	for i, c := range corrections[name] {
		if strings.Count(text, c.old) != 1 {
			return "", fmt.Errorf("%s: correction %d does not apply (%s)", name, i+1, corrections[name][0].reason)
		}
		text = strings.Replace(text, c.old, c.new, 1)
	}
	return text, nil
}
