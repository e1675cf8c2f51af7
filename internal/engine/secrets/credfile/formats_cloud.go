package credfile

// This file lists the formats of clouds and infrastructure: profiles of command line clients,
// exports of consoles, kubeconfig, Terraform, Ansible and Chef.

// cloudFormats are the rows, in the order in which they are tried. Files with a general name
// (config, credentials, token.json) have words that must occur, so that a file of another
// program with that name is not read.
var cloudFormats = []format{
	{id: "cloud-credentials", name: "Stored cloud credential", class: cloudClass, read: readAssignments,
		files: ".aws/credentials aws/credentials aws_credentials credentials .credentials *.credentials .aws/config " +
			".boto boto.cfg .s3cfg s3cfg *.s3cfg .s3cmd s3cmd.ini .s3backer_passwd .passwd-s3fs " +
			".elasticbeanstalk/aws_credential_file .ec2_keys rootkey.csv .oci/config .ibmcloud/credentials " +
			".bluemix/config .fog .aliyun/credentials .tccli/default.credential .scalewayrc",
		keys: "* awssecretaccesskey awssecretkey awssessiontoken secretkey secretaccesskey gsoauth2refreshtoken " +
			"gssecretaccesskey passphrase apikey sessiontoken gpgpassphrase",
		what: "The profile file of a cloud CLI contains access keys of an account."},
	{id: "cloud-access-keys", name: "Downloaded cloud access keys", class: cloudClass, files: "accesskeys.csv " +
		"*accesskeys*.csv credentials.csv *_credentials.csv rootkey.csv", find: findTable,
		what: "The file is an export of a cloud console with access keys or passwords of users."},
	{id: "rclone-config", name: "Credential in rclone configuration", class: cloudClass, read: readINI,
		files: "rclone.conf .rclone.conf",
		keys: "pass pass2 password password2 token secretaccesskey clientsecret key apikey accesstoken " +
			"serviceaccountcredentials sasurl bearertoken apppassword",
		what: "The rclone configuration contains tokens of storage services, or passwords obfuscated " +
			"with a public key."},
	{id: "cloud-tool", name: "Cloud CLI token", class: cloudClass, read: readYAMLOrINI,
		keys: "* apikey apitoken accesstoken authtoken token oauthtoken password secretkey",
		files: ".tugboat tugboat.yml doctl/config.yaml .config/doctl/config.yaml .fly/config.yml fly/config.yml " +
			"hcloud/cli.toml linode-cli linode-cli.cfg .linode-cli scw/config.yaml .vultr-cli.yaml vultr-cli.yaml " +
			"civo.json .exoscale/exoscale.toml clouds.yaml clouds.yml clouds.secure.yaml secure.yaml " +
			".wrangler/config/default.toml default.toml .ovh.conf ovh.conf cloudflare.cfg cloudflared.yml " +
			".cloudflare.ini cloudflare.ini .edgerc .pulumi/credentials.yaml nomad.hcl .onedrive.conf dnsimple.ini " +
			"digitalocean.ini certbot/*.ini",
		what: "The configuration of a cloud CLI or client contains the key of an account."},
	{id: "cloud-tool-json", name: "Cloud CLI token", class: cloudClass, read: readJSON,
		keys: "* accesstoken refreshtoken accesskeysecret clientsecret apikey herokuapikey token secret privatekey " +
			"password tokenid idtoken auth accesstokens",
		files: "heroku.json .heroku/credentials.json civo.json .civo.json .aliyun/config.json accesstokens.json " +
			"azureprofile.json msal_token_cache.json service_principal_entries.json " +
			"application_default_credentials.json adc.json legacy_credentials/*/adc.json client_secret*.json " +
			"client_secrets.json credentials.json service-account*.json serviceaccount*.json *service-account*.json " +
			"firebase-adminsdk*.json *-firebase-adminsdk-*.json .firebaserc.json firebase-tools.json " +
			"configstore/*.json vercel/auth.json now/auth.json .now/auth.json .vercel/auth.json netlify/config.json " +
			".netlify/config.json .pulumi/credentials.json credentials.tfrc.json .terraform.d/credentials.tfrc.json " +
			".pulumi.json oauth2_credentials.json oauth_creds.json token.json tokens.json .ibmcloud/config.json " +
			".cf/config.json .bluemix/config.json gcloud.json key.json keyfile.json gcp-key.json gcp*.json aws.json " +
			"azure.json azureauth.json azureauth.properties s3.json aws-credentials.json aws_credentials.json",
		words: "token secret key password auth",
		what:  "The configuration of a cloud CLI or client contains tokens or keys of an account."},
	{id: "publish-profile", name: "Password in a publish profile", class: cloudClass, read: readXML,
		keys:  "userpwd password publishingpassword managementcertificate accountkey storageaccountkey value",
		files: "*.publishsettings *.pubxml *.pubxml.user *.cscfg *.azurepubxml", words: "pwd password certificate key",
		what: "The publish profile contains the password or certificate for deploying an application to " +
			"the cloud."},
	{id: "kube-config", name: "Kubernetes credential", class: cloudClass, read: readYAML,
		keys:  "token clientkeydata password accesstoken refreshtoken idtoken clientsecret",
		words: "clusters: client-key-data current-context", under: "users",
		files: ".kube/config kube/config kubeconfig kube.config *.kubeconfig *kubeconfig* k3s.yaml kubeconfig.yaml " +
			"kubeconfig.yml admin.conf kubelet.conf controller-manager.conf scheduler.conf config *.yaml *.yml *.conf",
		what: "The kubeconfig file contains a token, key or password for a Kubernetes cluster."},
	{id: "helm-repositories", name: "Helm repository password", class: passwordClass, read: readYAML,
		keys: "password", files: "helm/repositories.yaml repositories.yaml", words: "password",
		what: "The Helm configuration contains the password of a chart repository."},
	{id: "terraform-credentials", name: "Terraform token", class: cloudClass, read: readAssignments,
		keys: "token", files: ".terraformrc terraform.rc *.tfrc .tofurc",
		what: "The Terraform CLI configuration contains the token of a service for state or modules."},
	{id: "terraform-variables", name: "Secret in Terraform variables", class: settingClass, read: readAssignments,
		keys: "*", files: "*.tfvars *.auto.tfvars", loose: true,
		what: "The Terraform variable file contains a secret."},
	{id: "terraform-state", name: "Secret in Terraform state", class: cloudClass, read: readState, keys: "* secret",
		files: "*.tfstate *.tfstate.backup *.tfstate.json", loose: true,
		what: "The Terraform state contains a secret in plaintext. Terraform stores all values in the " +
			"state, including generated passwords and keys."},
	{id: "vault-token", name: "Secret store token", class: cloudClass, read: readWhole, files: ".vault-token " +
		"vault-token .vault_token .vault_pass .vault_pass.txt vault_pass.txt .vault-pass vault-password-file " +
		".vault_password vault_password vault-password.txt .ansible_vault_pass .chef/encrypted_data_bag_secret " +
		"encrypted_data_bag_secret",
		what: "The file contains the token or password of a secret store, such as Vault or Ansible " +
			"Vault."},
	{id: "inventory", name: "Password in an inventory", class: passwordClass, find: findInventory,
		files: "hosts inventory *.inventory hosts.ini inventory.ini hosts.yml hosts.yaml inventory.yml " +
			"inventory.yaml group_vars/* host_vars/* group_vars/*/* host_vars/*/*", words: "pass",
		what: "The inventory contains the passwords for managing hosts."},
	{id: "chef-knife", name: "Secret in Chef configuration", class: settingClass, read: readCode, keys: "*",
		files: "knife.rb .chef/config.rb client.rb solo.rb", loose: true,
		what: "The Chef configuration contains a cloud key or a password of a host."},
}
