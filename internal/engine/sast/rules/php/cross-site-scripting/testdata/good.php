<?php
echo "<h1>Hello " . htmlspecialchars($_GET['name'], ENT_QUOTES) . "</h1>";

echo "<p>" . intval($_GET['page']) . "</p>";
echo isset($_GET['x']) ? "yes" : "no";
$safe = htmlentities($_POST['text']);
print($safe);
echo "static";
