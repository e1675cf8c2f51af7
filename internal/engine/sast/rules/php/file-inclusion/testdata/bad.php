<?php
$page = $_GET['page'];
// ruleid: file-inclusion
include 'pages/' . $page . '.php';

// ruleid: file-inclusion
require_once($_COOKIE['theme']);
