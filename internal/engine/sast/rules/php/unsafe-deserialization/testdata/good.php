<?php
$cart = json_decode($_COOKIE['cart'], true);

$list = unserialize($_POST['list'], ['allowed_classes' => false]);
$own = unserialize(file_get_contents('state.bin'));
