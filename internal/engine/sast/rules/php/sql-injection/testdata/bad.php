<?php
$id = $_GET['id'];
// ruleid: sql-injection
$rows = mysqli_query($db, "SELECT * FROM orders WHERE id = " . $id);

function byName($pdo) {
    $name = trim($_POST['name']);
    // ruleid: sql-injection
    return $pdo->query("SELECT * FROM users WHERE name = '$name'");
}
