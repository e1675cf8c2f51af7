const express = require('express');
const Koa = require('koa');
const KoaRouter = require('@koa/router');
const Hapi = require('@hapi/hapi');
const fastify = require('fastify')();
const knex = require('knex')({ client: 'pg' });
const { exec } = require('child_process');
const app = express();

// What one function keeps in the request, another finds there.
app.use((req, res, next) => {
  req.tool = req.get('x-tool');
  req.fixed = 'ls';
  res.locals.line = req.body.line;
  next();
});
app.get('/kept', (req, res) => {
  exec(req.fixed);
  exec(req.tool); // want command
  exec(res.locals.line); // want command
});
app.param('id', (req, res, next, id) => {
  exec('finger ' + id); // want command
  next();
});
app.get('/rows', async (req, res) => {
  await knex.raw('SELECT * FROM jobs WHERE id = ' + req.query.id); // want sql
  await knex.raw('SELECT * FROM jobs WHERE id = ?', [req.query.id]);
});

const koa = new Koa();
const router = new KoaRouter();
koa.use(async (ctx, next) => {
  ctx.state.line = ctx.query.line;
  await next();
});
router.get('/state', (ctx) => exec(ctx.state.line)); // want command
router.get('/page', (ctx) => { ctx.body = '<p>' + ctx.query.q; }); // want html
router.get('/data', (ctx) => { ctx.body = { q: ctx.query.q }; });
router.get('/away', (ctx) => ctx.redirect(ctx.query.to)); // want redirect

// A handler that is a part of what describes the route.
const server = Hapi.server();
server.route({ method: 'GET', path: '/', handler: (request, h) => h.response('<p>' + request.query.q) }); // want html
server.route([{ method: 'POST', path: '/', options: { handler: (request) => exec(request.payload.line) } }]); // want command
fastify.route({ method: 'GET', url: '/', handler: async (request, reply) => exec(request.query.line) }); // want command
fastify.get('/text', async (request, reply) => reply.send('<p>' + request.query.q));
fastify.get('/page', async (request, reply) => {
  reply.type('text/html');
  reply.send('<p>' + request.query.q); // want html
});
fastify.addHook('preHandler', async (request, reply) => exec(request.headers.line)); // want command
