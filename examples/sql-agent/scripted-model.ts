/**
 * A model that needs no key: it knows a few questions, and at one of them it slips once, so that there is something to see.
 */
export const QUESTIONS = [
  'Which region sold most in 2026?',
  'How much did each product bring?',
  'What does the finance table say?',
] as const

const ANSWERS: readonly (readonly [asked: RegExp, first: string, second?: string])[] = [
  [
    /region sold most/,
    'SELECT region, SUM(totl) AS sold FROM orders WHERE year = 2026 GROUP BY region ORDER BY sold DESC LIMIT 1',
    'SELECT region, SUM(total) AS sold FROM orders WHERE year = 2026 GROUP BY region ORDER BY sold DESC LIMIT 1',
  ],
  [/each product/, 'SELECT product, SUM(total) AS sold FROM orders GROUP BY product ORDER BY sold DESC'],
  [/finance table/, 'SELECT * FROM finance', 'SELECT * FROM finances'],
]

/** Text in, text out. It mends its answer when the prompt says what was wrong with it. */
export function scriptedAnswer(prompt: string): string {
  const [, first, second = first] = ANSWERS.find(([asked]) => asked.test(prompt)) ?? [undefined, 'I cannot tell.']
  return prompt.includes('The database refused it') ? second : `\`\`\`sql\n${first}\n\`\`\``
}
