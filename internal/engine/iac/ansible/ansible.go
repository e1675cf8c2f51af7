// Package ansible reads Ansible's files into the form that the query library expects.
//
// Inventories in INI become {"all": {"children": {group: {"hosts": {host: {variable:
// value}}, "children": {…}}}}}, and ansible.cfg {"groups": {section: {key: value}}}.
//
// Of a playbook, the tasks of its plays, those of the roles that they name and those of the
// files that they import or include are looked at with the variables that hold there, in
// the order in which Ansible prefers them: of a role (vars, defaults), of a play (vars,
// vars_files), of groups and hosts, of blocks and tasks. What is decided outside of the
// tree, at run time, or differently for some hosts is marked as unknown, and never guessed.
// A document is the list of the tasks, without the blocks around them.
//
// The formats: https://docs.ansible.com/ansible/latest/inventory_guide/intro_inventory.html,
// https://docs.ansible.com/ansible/latest/reference_appendices/config.html,
// https://docs.ansible.com/ansible/latest/reference_appendices/playbooks_keywords.html; the order:
// https://docs.ansible.com/ansible/latest/playbook_guide/playbooks_variables.html#understanding-variable-precedence.
package ansible
