<?php
$stmt = $pdo->prepare("SELECT * FROM orders WHERE id = ?");
$stmt->execute([$_GET['id']]);

$n = (int) $_GET['n'];
mysqli_query($db, "SELECT * FROM orders LIMIT " . $n);
$name = mysqli_real_escape_string($db, $_POST['name']);
mysqli_query($db, "SELECT * FROM users WHERE name = '" . $name . "'");
$pdo->query("SELECT 1");
