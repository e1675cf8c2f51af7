package web

type local struct{ Path string }
