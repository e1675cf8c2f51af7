<?php
$pages = ['home' => 'home.php', 'about' => 'about.php'];
include 'pages/home.php';

include 'pages/' . basename($_GET['page']) . '.php';
require_once __DIR__ . '/config.php';
