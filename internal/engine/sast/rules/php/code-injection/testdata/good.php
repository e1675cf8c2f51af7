<?php
$actions = ['list' => 'listAll', 'add' => 'addOne'];
$action = $actions[$_POST['action']] ?? 'listAll';

call_user_func('listAll', $_POST['id']);
eval('$x = 1;');
