// A real authorisation server (oidc-provider) and a real MCP server (the official SDK) that takes its tokens, each on a port of its own.
// They are told on stdout as one line of JSON; both end with stdin.
import http from 'node:http';
import express from 'express';
import Provider from 'oidc-provider';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { getOAuthProtectedResourceMetadataUrl, mcpAuthMetadataRouter } from '@modelcontextprotocol/sdk/server/auth/router.js';
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';

// Nobody reads stdout after the first line, and the provider writes notices there.
console.log = console.info = () => {};

const SCOPES = ['mcp:tools', 'mcp:admin'];
const DOCUMENT = 'https://rail.example.com/client.json';

// What the provider keeps, by kind and id, so that a test can take it away.
const kept = new Map();
class Adapter {
  constructor(kind) {
    this.kind = kind;
    if (!kept.has(kind)) kept.set(kind, new Map());
    this.all = kept.get(kind);
  }
  async upsert(id, payload) { this.all.set(id, { ...payload }); }
  async find(id) { return this.all.get(id); }
  async findByUid(uid) { return [...this.all.values()].find((one) => one.uid === uid); }
  async findByUserCode(code) { return [...this.all.values()].find((one) => one.userCode === code); }
  async consume(id) { this.all.get(id).consumed = Math.floor(Date.now() / 1000); }
  async destroy(id) { this.all.delete(id); }
  async revokeByGrantId(grant) {
    for (const all of kept.values()) for (const [id, one] of all) if (one.grantId === grant) all.delete(id);
  }
}

// What was asked at the token endpoint, and how it ended.
const asked = [];

const listen = (server) => new Promise((done) => server.listen(0, '127.0.0.1', () => done(server.address().port)));
const authServer = http.createServer();
const issuer = `http://127.0.0.1:${await listen(authServer)}`;
const app = express();
const appServer = http.createServer(app);
const origin = `http://127.0.0.1:${await listen(appServer)}`;
const resource = new URL(`${origin}/mcp`);

const provider = new Provider(issuer, {
  adapter: Adapter,
  clients: [{
    client_id: 'configured',
    client_secret: 'the-secret-of-the-configured-client',
    application_type: 'native',
    redirect_uris: ['http://127.0.0.1/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'client_secret_basic',
  }],
  clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
  scopes: ['openid', 'offline_access', ...SCOPES],
  pkce: { required: () => true },
  rotateRefreshToken: true,
  ttl: { AccessToken: 3600, RefreshToken: 86400 },
  cookies: { keys: ['of no use to anybody else'] },
  fetch: async (url) => {
    if (String(url) !== DOCUMENT) throw new Error(`nobody serves ${url} here`);
    const description = {
      client_id: DOCUMENT,
      client_name: 'Switchrail',
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    };
    return new Response(JSON.stringify(description), { headers: { 'content-type': 'application/json' } });
  },
  features: {
    devInteractions: { enabled: true },
    registration: { enabled: true },
    revocation: { enabled: true },
    clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_ctx, indicator) => {
        if (indicator !== resource.href) throw new Error(`no such resource: ${indicator}`);
        return { scope: SCOPES.join(' '), audience: indicator, accessTokenFormat: 'opaque' };
      },
      useGrantedResource: () => true,
    },
  },
});
provider.on('grant.success', (ctx) => asked.push({ type: ctx.oidc.params.grant_type, ok: true }));
provider.on('grant.error', (ctx, error) =>
  asked.push({ type: ctx.oidc?.params?.grant_type, ok: false, error: error.message }));
provider.on('server_error', (_ctx, error) => console.error(error));
authServer.on('request', provider.callback());

// The server that wants tokens.
const verifier = {
  async verifyAccessToken(token) {
    const found = await provider.AccessToken.find(token);
    if (!found) throw new InvalidTokenError('nobody knows this token');
    return {
      token,
      clientId: found.clientId,
      scopes: found.scope.split(' '),
      expiresAt: found.exp,
      resource: new URL(found.aud),
      extra: { account: found.accountId },
    };
  },
};
const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(resource);
const guard = (requiredScopes) =>
  requireBearerAuth({ verifier, requiredScopes, resourceMetadataUrl, expectedResource: resource });
const guards = { usual: guard(['mcp:tools']), admin: guard(SCOPES) };

app.use(express.json());
const oauthMetadata = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
app.use(mcpAuthMetadataRouter({ oauthMetadata, resourceServerUrl: resource, scopesSupported: ['mcp:tools'] }));
app.post(
  '/mcp',
  (req, res, next) => (req.body?.params?.name === 'admin' ? guards.admin : guards.usual)(req, res, next),
  async (req, res) => {
    const server = new McpServer({ name: 'guarded', version: '1.0.0' });
    for (const name of ['whoami', 'admin']) {
      server.registerTool(name, { description: name }, async ({ authInfo }) => ({
        content: [{ type: 'text', text: `${authInfo.extra.account} by ${authInfo.scopes.join(' ')}` }],
      }));
    }
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
    res.on('close', () => { transport.close(); server.close(); });
    await server.connect(transport);
    await transport.handleRequest(req, res, req.body);
  },
);

// What tests do behind everybody's back.
app.post('/test/forget/:kind', (req, res) => { kept.get(req.params.kind)?.clear(); res.json({}); });
app.get('/test/asked', (_req, res) => res.json(asked));
app.get('/test/clients', (_req, res) => res.json([...(kept.get('Client')?.values() ?? [])]));

process.stdin.resume().on('end', () => process.exit(0));
process.stdout.write(`${JSON.stringify({ issuer, server: resource.href, origin, document: DOCUMENT })}\n`);
