<?php
$pages = ['home' => '/home', 'cart' => '/cart'];
$next = isset($pages[$_GET['next']]) ? '/cart' : '/home';
header("Location: " . $next);

header("Location: /search?q=" . urlencode($_GET['q']));
header("X-Page: " . $_GET['page']);
