<?php
$host = $_POST['host'];
// ruleid: command-injection
system("ping -c 1 " . $host);

function render() {
    // ruleid: command-injection
    return shell_exec("convert {$_GET['file']} out.png");
}
