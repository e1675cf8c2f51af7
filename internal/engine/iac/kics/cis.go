package kics

import (
	"path"
	"strings"

	"merlon/internal/engine/iac/document"
)

// This file names the sections of the benchmarks of the Center for Internet Security
// that ask for the same as a query. A query without one is in none, or asks for
// something near it only. The sections were compared with the titles of the sections
// in public implementations of the same versions: those of Steampipe's compliance mods
// for the clouds, of kube-bench for Kubernetes, of Docker Bench for containers.

// benchmarkFamily is a benchmark, with its sections by the names of the queries' folders,
// which mean the same on all platforms.
type benchmarkFamily struct {
	// the title and version, as it is shown
	benchmark string
	// the number of the section by the last part of the query's path
	sections map[string]string
}

// benchmarkText returns the section for a query as text for its description; "" when none
// is known.
func benchmarkText(platform document.Platform, query string) string {
	// Queries for Terraform, CloudFormation and Ansible lie in folders by provider, "aws/NAME": the
	// same name asks for the same on each of them.
	f := familyOf(platform, query)
	if section := f.sections[path.Base(query)]; section != "" {
		return "\n\nReference: " + f.benchmark + ", section " + section + "."
	}
	return ""
}

// familyOf returns the benchmark that speaks of what the query looks at.
func familyOf(platform document.Platform, query string) benchmarkFamily {
	provider, _, _ := strings.Cut(query, "/")
	switch {
	// Terraform has queries for Kubernetes as well, in the folder "kubernetes".
	case platform == document.Kubernetes, provider == "kubernetes":
		return kubernetes
	case platform == document.Dockerfile, platform == document.Compose:
		return docker
	case platform == document.ARM, provider == "azure":
		return azure
	case platform == document.GoogleDeploy, provider == "gcp":
		return google
	case provider == "aws":
		return amazon
	}
	return benchmarkFamily{}
}

// amazon names the benchmark's sections that queries for AWS check.
// To add a row, compare the title of the section with the description of the query: the section
// must ask for the same, not only for something of the same service.
var amazon = benchmarkFamily{"CIS Amazon Web Services Foundations Benchmark 3.0.0", map[string]string{
	"root_account_has_active_access_keys":                                              "1.4",
	"iam_password_without_minimum_length":                                              "1.8",
	"password_without_reuse_prevention":                                                "1.9",
	"iam_user_too_many_access_keys":                                                    "1.13",
	"iam_policies_attached_to_user":                                                    "1.15",
	"iam_policy_on_user":                                                               "1.15",
	"iam_policies_with_full_privileges":                                                "1.16",
	"iam_access_analyzer_not_enabled":                                                  "1.20",
	"s3_bucket_policy_accepts_http_requests":                                           "2.1.1",
	"s3_bucket_without_ssl_in_write_actions":                                           "2.1.1",
	"s3_bucket_without_enabled_mfa_delete":                                             "2.1.2",
	"s3_bucket_allows_public_acl":                                                      "2.1.4",
	"s3_bucket_with_public_policy":                                                     "2.1.4",
	"s3_bucket_without_ignore_public_acl":                                              "2.1.4",
	"s3_bucket_without_restriction_of_public_bucket":                                   "2.1.4",
	"ebs_default_encryption_disabled":                                                  "2.2.1",
	"ebs_volume_encryption_disabled":                                                   "2.2.1",
	"rds_storage_not_encrypted":                                                        "2.3.1",
	"rds_storage_encryption_disabled":                                                  "2.3.1",
	"automatic_minor_upgrades_disabled":                                                "2.3.2",
	"rds_db_instance_publicly_accessible":                                              "2.3.3",
	"efs_not_encrypted":                                                                "2.4.1",
	"cloudtrail_multi_region_disabled":                                                 "3.1",
	"cloudtrail_log_file_validation_disabled":                                          "3.2",
	"cloudtrail_log_files_s3_bucket_with_logging_disabled":                             "3.4",
	"cloudtrail_log_files_not_encrypted_with_kms":                                      "3.5",
	"cmk_rotation_disabled":                                                            "3.6",
	"kms_enable_key_rotation_disabled":                                                 "3.6",
	"vpc_flowlogs_disabled":                                                            "3.7",
	"s3_bucket_object_level_cloudtrail_logging_disabled":                               "3.8",
	"cloudwatch_unauthorized_access_defined_alarm_missing":                             "4.1",
	"cloudwatch_management_console_sign_in_without_mfa_alarm_missing":                  "4.2",
	"cloudwatch_root_account_use_alarm_missing":                                        "4.3",
	"cloudwatch_iam_policy_changes_alarm_missing":                                      "4.4",
	"cloudwatch_cloudtrail_configuration_changes_alarm_missing":                        "4.5",
	"cloudwatch_management_console_auth_failed_alarm_missing":                          "4.6",
	"cloudwatch_disabling_or_scheduled_deletion_of_customer_created_cmk_alarm_missing": "4.7",
	"cloudwatch_s3_policy_change_alarm_missing":                                        "4.8",
	"cloudwatch_aws_config_configuration_changes_alarm_missing":                        "4.9",
	"cloudwatch_security_group_changes_alarm_missing":                                  "4.10",
	"cloudwatch_changes_to_nacl_alarm_missing":                                         "4.11",
	"cloudwatch_network_gateways_changes_alarm_missing":                                "4.12",
	"cloudwatch_route_table_changes_alarm_missing":                                     "4.13",
	"cloudwatch_vpc_changes_alarm_missing":                                             "4.14",
	"cloudwatch_aws_organizations_changes_missing_alarm":                               "4.15",
	"network_acl_with_unrestricted_access_to_rdp":                                      "5.1",
	"network_acl_with_unrestricted_access_to_ssh":                                      "5.1",
	"security_group_with_unrestricted_access_to_ssh":                                   "5.2",
	"remote_desktop_port_open_to_internet":                                             "5.2",
	"vpc_default_security_group_accepts_all_traffic":                                   "5.4",
	"default_security_groups_with_unrestricted_traffic":                                "5.4",
	"vpc_peering_route_table_with_unrestricted_cidr":                                   "5.5",
	"instance_uses_metadata_service_IMDSv1":                                            "5.6",
}}

// kubernetes names the benchmark's sections that queries for Kubernetes check.
var kubernetes = benchmarkFamily{"CIS Kubernetes Benchmark 1.8", map[string]string{
	"cluster_admin_role_binding_with_super_user_permissions": "5.1.1",
	"rbac_roles_with_read_secrets_permissions":               "5.1.2",
	"service_account_allows_access_secrets":                  "5.1.2",
	"rbac_wildcard_in_rule":                                  "5.1.3",
	"permissive_access_to_create_pods":                       "5.1.4",
	"role_binding_to_default_service_account":                "5.1.5",
	"service_account_token_automount_not_disabled":           "5.1.6",
	"rbac_roles_allow_privilege_escalation":                  "5.1.8",
	"rbac_roles_with_impersonate_permission":                 "5.1.8",
	"container_is_privileged":                                "5.2.2",
	"shared_host_pid_namespace":                              "5.2.3",
	"shared_host_ipc_namespace":                              "5.2.4",
	"shared_host_network_namespace":                          "5.2.5",
	"privilege_escalation_allowed":                           "5.2.6",
	"containers_running_as_root":                             "5.2.7",
	"net_raw_capabilities_not_being_dropped":                 "5.2.8",
	"containers_with_added_capabilities":                     "5.2.9",
	"no_drop_capabilities_for_containers":                    "5.2.10",
	"workload_mounting_with_sensitive_os_directory":          "5.2.12",
	"non_kube_system_pod_with_host_mount":                    "5.2.12",
	"workload_host_port_not_specified":                       "5.2.13",
	"cni_plugin_does_not_support_network_policies":           "5.3.1",
	"secrets_as_environment_variables":                       "5.4.1",
	"ensure_administrative_boundaries_between_resources":     "5.7.1",
	"seccomp_profile_is_not_configured":                      "5.7.2",
	"pod_or_container_without_security_context":              "5.7.3",
	"using_unrecommended_namespace":                          "5.7.4",
}}

// docker names the benchmark's sections that queries for Dockerfiles and Compose check.
var docker = benchmarkFamily{"CIS Docker Benchmark 1.6.0", map[string]string{
	"missing_user_instruction":                      "4.1",
	"last_user_is_root":                             "4.1",
	"healthcheck_instruction_missing":               "4.6",
	"update_instruction_alone":                      "4.7",
	"add_instead_of_copy":                           "4.9",
	"container_capabilities_unrestricted":           "5.4",
	"privileged_containers_enabled":                 "5.5",
	"volume_has_sensitive_host_directory":           "5.6",
	"privileged_ports_mapped_in_container":          "5.8",
	"shared_host_network_namespace":                 "5.10",
	"memory_not_limited":                            "5.11",
	"cpus_not_limited":                              "5.12",
	"container_traffic_not_bound_to_host_interface": "5.14",
	"restart_policy_on_failure_not_set_to_5":        "5.15",
	"host_namespace_is_shared":                      "5.16",
	"shared_host_ipc_namespace":                     "5.17",
	"default_seccomp_profile_disabled":              "5.22",
	"cgroup_not_default":                            "5.25",
	"no_new_privileges_not_set":                     "5.26",
	"healthcheck_not_set":                           "5.27",
	"pids_limit_not_set":                            "5.29",
	"shared_host_user_namespace":                    "5.31",
	"docker_socket_mounted_in_container":            "5.32",
}}

// azure names the benchmark's sections that queries for Azure check.
var azure = benchmarkFamily{"CIS Microsoft Azure Foundations Benchmark 2.0.0", map[string]string{
	"storage_account_not_forcing_https":                              "3.1",
	"storage_account_allows_unsecure_transfer":                       "3.1",
	"default_azure_storage_account_network_access_is_too_permissive": "3.8",
	"storage_account_allows_network_default_access":                  "3.8",
	"trusted_microsoft_services_not_enabled":                         "3.9",
	"storage_account_not_using_latest_tls_encryption_version":        "3.15",
	"sql_server_auditing_disabled":                                   "4.1.1",
	"sql_server_ingress_from_any_ip":                                 "4.1.2",
	"postgresql_log_checkpoints_disabled":                            "4.3.2",
	"postgresql_server_log_checkpoint_disabled":                      "4.3.2",
	"postgresql_log_connections_not_set":                             "4.3.3",
	"postgresql_server_log_connections_disabled":                     "4.3.3",
	"postgresql_log_disconnections_not_set":                          "4.3.4",
	"postgresql_server_without_connection_throttling":                "4.3.5",
	"postgresql_database_server_connection_throttling_disabled":      "4.3.5",
	"small_postgresql_db_server_log_retention_period":                "4.3.6",
	"mysql_ssl_connection_disabled":                                  "4.4.1",
	"vault_auditing_disabled":                                        "5.1.5",
	"rdp_is_exposed_to_the_internet":                                 "6.1",
	"network_security_group_with_unrestricted_access_to_rdp":         "6.1",
	"ssh_is_exposed_to_the_internet":                                 "6.2",
	"network_security_group_with_unrestricted_access_to_ssh":         "6.2",
	"small_flow_logs_retention_period":                               "6.5",
	"unrecommended_network_watcher_flow_log_retention_policy":        "6.5",
	"app_service_authentication_disabled":                            "9.1",
	"app_service_authentication_not_set":                             "9.1",
	"web_app_accepting_traffic_other_than_https":                     "9.2",
	"website_not_forcing_https":                                      "9.2",
	"app_service_not_using_latest_tls_encryption_version":            "9.3",
	"web_app_not_using_tls_last_version":                             "9.3",
	"azure_app_service_client_certificate_disabled":                  "9.4",
	"website_with_client_certificate_auth_disabled":                  "9.4",
	"app_service_managed_identity_disabled":                          "9.5",
}}

// google names the benchmark's sections that queries for Google Cloud check.
var google = benchmarkFamily{"CIS Google Cloud Platform Foundation Benchmark 2.0.0", map[string]string{
	"high_google_kms_crypto_key_rotation_period":         "1.10",
	"kms_crypto_key_publicly_accessible":                 "1.9",
	"google_compute_network_using_default_firewall_rule": "3.1",
	"google_project_auto_create_network_disabled":        "3.1",
	"cloud_dns_without_dnssec":                           "3.3",
	"dnssec_using_rsasha1":                               "3.4",
	"ssh_access_is_not_restricted":                       "3.6",
	"rdp_access_is_not_restricted":                       "3.7",
	"google_compute_subnetwork_logging_disabled":         "3.8",
	"google_compute_ssl_policy_weak_cipher_in_use":       "3.9",
	"using_default_service_account":                      "4.1",
	"vm_with_full_cloud_access":                          "4.2",
	"project_wide_ssh_keys_are_enabled_in_vm_instances":  "4.3",
	"os_login_disabled":                                  "4.4",
	"os_login_is_disabled_for_vm_instance":               "4.4",
	"vm_serial_ports_are_enabled_for_vm_instances":       "4.5",
	"ip_forwarding_enabled":                              "4.6",
	"disk_encryption_disabled":                           "4.7",
	"shielded_vm_disabled":                               "4.8",
	"cloud_storage_anonymous_or_publicly_accessible":     "5.1",
	"cloud_storage_bucket_is_publicly_accessible":        "5.1",
	"google_storage_bucket_level_access_disabled":        "5.2",
	"sql_db_instance_with_ssl_disabled":                  "6.4",
	"sql_db_instance_is_publicly_accessible":             "6.5",
	"sql_db_instance_backup_disabled":                    "6.7",
	"bigquery_dataset_is_public":                         "7.1",
}}
