<?php
system("ping -c 1 " . escapeshellarg($_POST['host']));

$n = intval($_GET['n']);
exec("head -n $n log.txt", $lines);
system("uptime");
