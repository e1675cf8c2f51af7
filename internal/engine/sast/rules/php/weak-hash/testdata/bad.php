<?php
// ruleid: weak-hash
$hash = md5($password);
// ruleid: weak-hash
$other = sha1($_POST['password'] . $salt);
