/**
 * Credentials are masked in every usual shape, and ordinary sentences are left alone.
 * The canary is the word SECRET: it must never be seen again.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maskSecrets, safeText } from './mask-secrets.ts'

const HIDDEN = [
  'sk-SECRETabcdef1234567890',
  'AKIASECRETABCDEFGHIJ',
  'Digest SECRETabcdef',
  'Negotiate SECRETabcdef',
  'sk-proj-SECRET_abcdef-1234567890',
  'sk-ant-api03-SECRETabcdef1234',
  'sk_live_SECRETabcdef1234',
  'rk_test_SECRETabcdef1234',
  'AIzaSySECRETabcdefghijklmnopqrstuvwxyz',
  'ya29.SECRETabcdef1234567890',
  'ghp_SECRETabcdefghijklmnop1234',
  'github_pat_SECRET_abcdefghijklmnop',
  'glpat-SECRETabcdefghij1234',
  'AKIASECRETABCDEF1234',
  'ASIASECRETABCDEF1234',
  'xoxb-123456-SECRETabc',
  'xoxp-SECRET-123456',
  'gsk_SECRETabcdefghijklmnop',
  'hf_SECRETabcdefghijklmnop',
  'xai-SECRETabcdefghijklmnop',
  'eyJhbGciOiJIUzI1NiJ9.SECRETeyJzdWIiOiIxIn0.SECRETsig',
  'SG.SECRETabcdefghij1234.SECRETabcdefghij1234',
  'Authorization: Bearer SECRETabc',
  'authorization: Basic SECRETabc==',
  'Bearer SECRET.abc-def',
  'BEARER SECRETabcdef',
  'postgres://user:SECRET@db:5432/x',
  'redis://:SECRET@cache:6379',
  'mongodb+srv://u:SECRET@cluster/x',
  'https://u:SECRET@h/p?q=1',
  'https://x/y?key=SECRET',
  'https://x/y?a=1&api_key=SECRET&b=2',
  'https://x?access_token=SECRET',
  'https://b.s3.amazonaws.com/k?X-Amz-Signature=SECRET',
  'https://x/?sig=SECRET&se=1',
  '?token=SECRET',
  'password=SECRET',
  'password: SECRET',
  '"password":"SECRET"',
  "'api_key': 'SECRET'",
  'pwd=SECRET;',
  'client_secret=SECRET',
  'x-api-key: SECRET',
  'AccountKey=SECRETabc==;',
  '\\"apiKey\\":\\"SECRETabc\\"',
  'secret_access_key = SECRET',
  'Cookie: SECRET=1',
  '-----BEGIN RSA PRIVATE KEY-----\nSECRETabc\n-----END RSA PRIVATE KEY-----',
  'Incorrect API key provided: SECRETabc.',
  'https://hooks.slack.com/services/T0/B0/SECRET12',
]

const PLAIN = [
  'connect ECONNREFUSED 127.0.0.1:5432',
  'Request failed with status code 429',
  'The model `gpt-4o-mini-2024-07-18` does not exist',
  'token limit exceeded: 4096 tokens',
  'duplicate key value violates unique constraint "users_pkey"',
  'see https://platform.openai.com/account/api-keys for more',
  'Basic authentication failed',
  'Bearer token is missing',
  'invalid x-api-key',
  'You exceeded your current quota',
  'mail me at a@b.example',
  'projects/my-project/locations/europe-west4',
  'req_011CSHoEeqs5C35K2UUqR7Fy',
]

describe('maskSecrets', () => {
  for (const text of HIDDEN) {
    it(`hides ${text.replace(/SECRET/g, '…').slice(0, 50)}`, () => {
      for (const around of [text, `before ${text} after`, `{"message":"x ${text}"}`, `${text}, and`])
        expect(maskSecrets(around)).not.toContain('SECRET')
    })
  }

  for (const text of PLAIN) it(`leaves alone: ${text}`, () => expect(maskSecrets(text)).toBe(text))

  it('changes nothing the second time (property)', () => {
    const piece = fc.oneof(
      fc.constantFrom(...HIDDEN),
      fc.constantFrom('password=', 'key:', ' ', '://', '@', '"', '***', 'Bearer ', 'a'),
      fc.string({ maxLength: 12 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const once = maskSecrets(pieces.join(''))
        expect(maskSecrets(once)).toBe(once)
      }),
    )
  })
})

describe('safeText', () => {
  it('is bounded, on one line, and stable (property)', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300, unit: 'binary' }), fc.integer({ min: 20, max: 100 }), (text, max) => {
        const safe = safeText(text, max)
        expect(safe.length).toBeLessThanOrEqual(max)
        expect(safe).not.toMatch(/[\u0000-\u001f\u007f]/)
        expect(safeText(safe, max)).toBe(safe)
      }),
    )
  })
})
