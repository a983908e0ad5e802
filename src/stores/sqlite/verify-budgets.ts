/**
 * The laws of budgets as statements: each selects what breaks it, over all windows that are kept.
 */

const SPENT = 'state IN (1, 2)'

/** The calls of each window, counted anew. */
const counted = (kind: string, key: string, where: string) => `
  SELECT budget, '${kind}' AS kind, ${key} AS key, sum(state = 0) AS calls_reserved, sum(${SPENT}) AS calls_spent,
    sum(iif(state = 0, nano, 0)) AS nano_reserved, sum(iif(${SPENT}, nano, 0)) AS nano_spent
  FROM reprise_spend WHERE ${where} GROUP BY budget, ${key}`

const FIGURES = ['calls_reserved', 'calls_spent', 'nano_reserved', 'nano_spent'] as const

export const BUDGET_LAWS: readonly (readonly [law: string, sql: string])[] = [
  [
    'spent and reserved are the sum of the calls',
    `WITH calls AS (${counted('day', 'day', 'day IS NOT NULL')}
      UNION ALL ${counted('month', 'month', 'month IS NOT NULL')}
      UNION ALL ${counted('run', "'r' || run", 'day IS NULL')})
    SELECT iif(kind = 'run', key, NULL) AS run, budget || ' ' || key || ' has ' || kept.calls_reserved || ' reserved and ' || kept.calls_spent || ' spent, its calls '
      || coalesce(calls.calls_reserved, 0) || ' and ' || coalesce(calls.calls_spent, 0) AS found
    FROM reprise_window AS kept LEFT JOIN calls USING (budget, kind, key)
    WHERE ${FIGURES.map((name) => `kept.${name} <> coalesce(calls.${name}, 0)`).join(' OR ')}`,
  ],
  [
    'no window is above its limit',
    `SELECT iif(kind = 'run', key, NULL) AS run, budget || ' ' || key || ' has given out ' || (calls_reserved + calls_spent) || ' calls of ' || coalesce(calls_limit, 'any')
      || ' and ' || (nano_reserved + nano_spent) || ' nano-dollars of ' || coalesce(nano_limit, 'any') AS found
    FROM reprise_window WHERE calls_reserved + calls_spent > calls_limit
      OR nano_reserved + nano_spent - nano_over > nano_limit`,
  ],
]
