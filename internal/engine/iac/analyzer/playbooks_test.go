package analyzer

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Tasks are asked about with the values that they have where they run: in every play, in
// roles and in files that are included. What is safe as it runs is silent, what nobody
// knows is a reason.
func TestPlaybooks(t *testing.T) {
	found, reasons := scanned(t, map[string]string{
		"site.yml": `- name: nothing yet
  hosts: localhost
  tasks:
    - name: hello
      debug: {msg: hi}
- name: firewall
  hosts: localhost
  vars: {everybody: 0.0.0.0/0, office: 10.1.0.0/16}
  tasks:
    - name: open
      amazon.aws.ec2_group:
        name: open
        description: open
        rules:
          - {proto: tcp, from_port: 22, to_port: 22, cidr_ip: "{{ everybody }}"}
    - name: closed
      amazon.aws.ec2_group:
        name: closed
        description: closed
        rules:
          - {proto: tcp, from_port: 22, to_port: 22, cidr_ip: "{{ office }}"}
- hosts: db
  roles: [db, {role: db, db_public: false}, acme.proxy]
`,
		"group_vars/all.yml":         "db_encrypted: true\n",
		"roles/db/defaults/main.yml": "db_public: true\ndb_encrypted: false\n",
		"roles/db/tasks/main.yml": `- name: database
  community.aws.rds_instance:
    db_instance_identifier: shop
    engine: postgres
    publicly_accessible: "{{ db_public }}"
    storage_encrypted: "{{ db_encrypted }}"
- name: replica
  community.aws.rds_instance:
    db_instance_identifier: shop
    engine: postgres
    storage_encrypted: "{{ replica_encrypted }}"
    publicly_accessible: false
`,
	})
	const (
		public = "roles/db/tasks/main.yml:5 aws-rds-db-instance-publicly-accessible"
		open   = "site.yml:15 aws-ec2-group-has-public-interface"
	)
	for _, one := range []string{public, open} {
		if !slices.Contains(found, one) {
			t.Errorf("%s is missing in %q", one, found)
		}
	}
	for _, one := range []string{
		"roles/db/tasks/main.yml:6 aws-db-instance-storage-not-encrypted", "roles/db/tasks/main.yml:11 " +
			"aws-db-instance-storage-not-encrypted", "site.yml:21 aws-ec2-group-has-public-interface",
		"site.yml:21 aws-security-group-with-unrestricted-access-to-ssh",
	} {
		if slices.Contains(found, one) {
			t.Errorf("%s is told", one)
		}
	}
	want := []string{
		"roles/db/tasks/main.yml:11 unknown-value: the value is unknown before deployment, and a rule depends on it: " +
			"DB instance storage not encrypted",
		"site.yml:23 unavailable: the role acme.proxy is not analyzed: it is not part of the tree, and nothing is " +
			"fetched",
	}
	if diff := cmp.Diff(want, reasons); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

// A template that a task fills in is asked about as it lies on the host.
func TestPlaybookTemplates(t *testing.T) {
	found, reasons := scanned(t, map[string]string{
		"site.yml": "- hosts: web\n  vars: {open: true}\n  tasks:\n  - name: compose\n    template: " +
			"{src: compose.yml.j2, dest: /srv/compose.yml, mode: \"0600\"}\n",
		"templates/compose.yml.j2": "services:\n  web:\n    image: web:1\n    privileged: {{ open }}\n  db:\n    " +
			"image: db:1\n    privileged: {{ given }}\n",
	})
	if one := "templates/compose.yml.j2:4 privileged-containers-enabled"; !slices.Contains(found, one) {
		t.Errorf("%s is missing in %q", one, found)
	}
	if one := "templates/compose.yml.j2:7 privileged-containers-enabled"; slices.Contains(found, one) {
		t.Errorf("%s is told", one)
	}
	if len(reasons) > 0 {
		t.Errorf("reasons %q", reasons)
	}
}
