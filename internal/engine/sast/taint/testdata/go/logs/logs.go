package logs

import (
	"log"
	"net/http"

	"github.com/golang/glog"
	"github.com/sirupsen/logrus"
	"go.uber.org/zap"
)

func ends(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("b") == "1" {
		log.Fatal(r.FormValue("a")) // want log
		log.Print(r.FormValue("a"))
	}
	if r.FormValue("b") == "2" {
		glog.Exitf("%s", r.FormValue("a")) // want log
	}
	log.Default().Panicln(r.FormValue("a")) // want log
	log.Print(r.FormValue("a"))
}

func goesOn(w http.ResponseWriter, r *http.Request) {
	a := r.FormValue("a")
	logrus.WithField("a", "x").Infof("%s", a) // want log
	logger, _ := zap.NewProduction()
	logger.Sugar().Infow("x", "a", a)    // want log
	logger.Info("x", zap.String("a", a)) // want log
	glog.V(2).Infoln(a)                  // want log
	glog.InfoDepth(1, a)                 // want log
	log.Output(1, a)                     // want log
	log.Println(len(a))
}
