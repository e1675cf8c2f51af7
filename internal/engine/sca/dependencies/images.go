package dependencies

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"merlon/internal/engine/sca/inventory"
	"merlon/internal/engine/sca/inventory/imageref"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/severity"
)

// This file judges container images by their tags. The image is not opened: for well-known
// images the tag names the version of the software, whose records Bitnami's database has.

// imageRule is the rule of images of vulnerable versions.
var imageRule = &finding.Rule{
	ID: "sca/vulnerable-image", Analysis: finding.SCA, Name: "Container image of a version with known vulnerabilities",
	ShortDescription: "The tag of an image names a version of its software that has known vulnerabilities.",
	Description: "The version that the tag names has known vulnerabilities that later versions fix, or the tag " +
		"names a " +
		"line of versions that gets no more fixes. The image itself was not opened: what its distribution adds is " +
		"found by a scan of the image.",
	HowToPrevent: "Name the version that the message tells, or a later one, and let a tool raise it: for example " +
		"`image: redis:7.4.2`. Read the release notes first where the major version changes.",
	CWE: []string{"CWE-1395"}, OWASP: []string{"A06:2021", "A03:2025"}, ASVS: []string{"V15.2.1"},
	Severity: finding.High, Confidence: finding.HighConfidence, Language: "docker",
}

// productEcosystem is the ecosystem of the records of products.
const productEcosystem = "Bitnami"

// imageProducts gives the product of well-known images, by the name of the image without the
// default registry. Images of Bitnami have the names of the records.
var imageProducts = map[string]string{
	"postgres": "postgresql", "mongo": "mongodb", "httpd": "apache", "openjdk": "java", "eclipse-temurin": "java",
	"amazoncorretto": "java", "grafana/grafana": "grafana", "grafana/grafana-oss": "grafana",
	"grafana/grafana-enterprise": "grafana", "jenkins/jenkins": "jenkins", "gitea/gitea": "gitea",
	"gitlab/gitlab-ce": "gitlab", "gitlab/gitlab-ee": "gitlab", "prom/prometheus": "prometheus",
	"quay.io/prometheus/prometheus": "prometheus", "prom/alertmanager": "alertmanager",
	"quay.io/prometheus/alertmanager": "alertmanager", "envoyproxy/envoy": "envoy",
	"quay.io/argoproj/argocd": "argo-cd", "hashicorp/vault": "vault", "hashicorp/consul": "consul",
	"docker.elastic.co/elasticsearch/elasticsearch": "elasticsearch", "docker.elastic.co/kibana/kibana": "kibana",
	"docker.elastic.co/logstash/logstash": "logstash", "valkey/valkey": "valkey", "eqalpha/keydb": "keydb",
	"apache/airflow": "airflow", "apache/superset": "superset", "apache/kafka": "kafka", "apache/nifi": "nifi",
	"apache/activemq-classic": "activemq", "apache/apisix": "apisix", "apache/spark": "spark", "apache/flink": "flink",
	"quay.io/oauth2-proxy/oauth2-proxy": "oauth2-proxy", "quay.io/coreos/etcd": "etcd", "registry.k8s.io/etcd": "etcd",
	"fluent/fluent-bit": "fluent-bit", "fluent/fluentd": "fluentd", "phpmyadmin/phpmyadmin": "phpmyadmin",
	"mcr.microsoft.com/dotnet/sdk": "dotnet-sdk", "mcr.microsoft.com/dotnet/aspnet": "aspnet-core",
	"mcr.microsoft.com/dotnet/runtime": "dotnet", "ghcr.io/goauthentik/server": "authentik",
}

// sameName lists official images that have the name of their product.
var sameName = []string{"cassandra", "consul", "couchdb", "drupal", "elasticsearch", "flink", "ghost", "golang",
	"gradle",
	"haproxy", "influxdb", "joomla", "kibana", "logstash", "mariadb", "maven", "memcached", "nats", "neo4j",
	"nextcloud",
	"nginx", "node", "odoo", "php", "phpmyadmin", "python", "rabbitmq", "redis", "redmine", "ruby", "solr", "tomcat",
	"valkey", "varnish", "vault", "wordpress", "zookeeper"}

// productOf returns the product in an image, or "".
func productOf(image string) string {
	if product := imageProducts[image]; product != "" {
		return product
	}
	for _, prefix := range []string{"bitnami/", "bitnamilegacy/"} {
		if name, ok := strings.CutPrefix(image, prefix); ok && !strings.Contains(name, "/") {
			return name
		}
	}
	if slices.Contains(sameName, image) {
		return image
	}
	return ""
}

// An imageVersion is the version of a product that a tag names.
type imageVersion struct {
	product, version string // as the tag writes it
	// queried is the version that is looked up: of a tag that names a line ("3.8"), which is
	// always the newest of it, one above all of the line.
	queried string
	line    bool
}

// versionOf returns the version of the product in an image; false when the image is not known
// or its tag names none.
func versionOf(pkg *finding.Package) (imageVersion, bool) {
	product := productOf(pkg.Name)
	version, _ := imageref.Version(pkg.Version)
	if product == "" || version == "" {
		return imageVersion{}, false
	}
	parts := 3
	if product == "postgresql" && !strings.HasPrefix(version, "9.") {
		parts = 2
	}
	out := imageVersion{product: product, version: version, queried: version}
	for n := strings.Count(version, ".") + 1; n < parts; n++ {
		out.queried += ".9999"
		out.line = true
	}
	return out, true
}

// reportImages reports images of vulnerable versions. One without a fixed version is left out:
// nobody can act on it, and records without an end are mostly outdated.
func reportImages(p *scan.ProjectPass, packages []finding.Package) error {
	if !p.Advisories.Knows(productEcosystem) {
		return nil
	}
	for i := range packages {
		pkg := &packages[i]
		if pkg.Ecosystem != inventory.ImageEcosystem {
			continue
		}
		v, ok := versionOf(pkg)
		// The release of Go that a Dockerfile builds with is judged with the modules.
		if !ok || v.product == "golang" && imageref.KindOf(pkg.Path) == imageref.Dockerfile {
			continue
		}
		found, err := p.Advisories.Match(p.Context, productEcosystem, v.product, v.queried)
		if p.Context.Err() != nil {
			return p.Context.Err()
		}
		found = slices.DeleteFunc(found, func(m scan.AdvisoryMatch) bool { return m.OpenEnded || m.Upgrade == "" })
		if err != nil && len(found) == 0 || len(found) == 0 {
			continue // a tag that is no version of the product, or nothing is known of it
		}
		p.Report(imageRule, imageFinding(pkg, v, found))
	}
	return nil
}

// imageFinding describes an image by its worst vulnerability.
func imageFinding(pkg *finding.Package, v imageVersion, found []scan.AdvisoryMatch) finding.Finding {
	worst := slices.MaxFunc(found, func(a, b scan.AdvisoryMatch) int {
		return cmp.Or(cmp.Compare(boolRank(a.Advisory.KEV != nil), boolRank(b.Advisory.KEV != nil)),
			cmp.Compare(a.Advisory.Severity.Rank(), b.Advisory.Severity.Rank()),
			cmp.Compare(a.Advisory.CVSS, b.Advisory.CVSS), strings.Compare(a.Advisory.ID, b.Advisory.ID))
	})
	upgrade := cmp.Or(worst.UpgradeAll, worst.Upgrade)
	count := "1 known vulnerability"
	if len(found) > 1 {
		count = fmt.Sprintf("%d known vulnerabilities", len(found))
	}
	subject := fmt.Sprintf("%s:%s is %s %s with %s", pkg.Name, pkg.Version, v.product, v.version, count)
	if v.line {
		subject = fmt.Sprintf("%s:%s: no release of %s %s fixes %s", pkg.Name, pkg.Version, v.product, v.version, count)
	}
	f := finding.Finding{
		RuleID: imageRule.ID, Severity: worst.Advisory.Severity, Language: "docker",
		Message: fmt.Sprintf("%s, the worst %s (%s); use %s or later", subject, worst.Advisory.ID,
			worst.Advisory.Severity,
			upgrade),
		Location: finding.Location{Path: pkg.Path, StartLine: pkg.Line, EndLine: pkg.Line},
		Package: &finding.PackageMatch{Package: *pkg, Fixed: nonEmpty(upgrade), Upgrade: upgrade,
			UpgradeAll: worst.UpgradeAll},
		Cause:    pkg.Name + ":" + pkg.Version,
		Identity: imageRule.ID + " " + pkg.Name,
	}
	if worst.Advisory.KEV == nil {
		f.Terms = append(f.Terms, finding.SeverityTerm{Points: severity.Lowered, Reason: "the image was not opened"})
		if v.line { // maintainers may fix an old line without a release that the data knows
			f.Terms = append(f.Terms, finding.SeverityTerm{Points: severity.Lowered,
				Reason: "judged by its release line"})
		}
	}
	return f
}

// boolRank orders false before true.
func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}
