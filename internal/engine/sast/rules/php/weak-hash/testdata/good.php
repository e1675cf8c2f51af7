<?php
$hash = password_hash($password, PASSWORD_DEFAULT);

$etag = md5($content);
$key = sha1($compass);
