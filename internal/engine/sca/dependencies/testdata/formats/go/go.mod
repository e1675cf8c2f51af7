module example.com/shop

go 1.22

require (
	golang.org/x/text v0.3.0
	gopkg.in/yaml.v2 v2.2.1 // indirect
	example.com/local v1.0.0
)

replace example.com/local => ../local
