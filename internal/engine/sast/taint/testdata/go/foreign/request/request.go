package request

type Base struct{ Name string }

type Req struct {
	Path  string
	Inner Base
	Next  *Base
}

type Embedding struct {
	Base
	Path string
}

type Filler interface{ Fill() }

type Label string
