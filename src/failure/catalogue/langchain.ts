/**
 * LangChain and LangGraph: the documented `lc_error_code`s, their class names and graph errors.
 * Model errors that they pass through keep the provider's code; only their own errors are listed.
 */
import { type Family, phrases, RANK, words } from '../rule.ts'

export const langchain: Family = {
  name: 'langchain',
  cases: [
    {
      code: 'langchain.OUTPUT_PARSING_FAILURE',
      kind: 'syntax',
      advice: 'Repair the answer locally, or ask again with the parse error.',
      tokens: ['OUTPUT_PARSING_FAILURE', 'OutputParserException', 'OUTPUT_PARSING_ERROR'],
      names: ['OutputParserException', 'OutputParsingError'],
      says: phrases(`
        could not parse llm output, could not parse output, failed to parse text, failed to parse .. from
        completion, invalid json output, could not parse function call, an output parsing error occurred, could
        not parse tool call
      `),
      rank: RANK.code + 1,
    },
    {
      code: 'langchain.structured-output',
      kind: 'semantic',
      advice: 'Ask again with the rejected paths and reasons.',
      tokens: words(`
        StructuredOutputParsingError StructuredOutputValidationError ToolInputParsingException
        StructuredOutputError MultipleStructuredOutputsError
      `),
      names: ['ToolInputParsingException'],
      says: phrases(`
        failed to parse structured output, received tool input did not match expected schema, error invoking tool,
        did not match expected schema, failed to parse .. from completion .. got 1 validation
      `),
      rank: RANK.code + 2,
    },
    {
      code: 'langchain.MODEL_RATE_LIMIT',
      kind: 'rate_limited',
      advice: 'Wait as long as told, or lower the pace.',
      tokens: ['MODEL_RATE_LIMIT'],
      rank: RANK.name + 4,
    },
    {
      code: 'langchain.MODEL_AUTHENTICATION',
      kind: 'final',
      advice: 'Check the provider’s key.',
      tokens: ['MODEL_AUTHENTICATION'],
    },
    {
      code: 'langchain.MODEL_NOT_FOUND',
      kind: 'final',
      advice: 'Check the model’s name.',
      tokens: ['MODEL_NOT_FOUND_LC'],
    },
    {
      code: 'langchain.CONTEXT_OVERFLOW',
      kind: 'final',
      advice: 'Shorten the messages or use a larger context.',
      tokens: ['CONTEXT_OVERFLOW', 'ContextOverflowError'],
      rank: RANK.code + 3,
    },
    {
      code: 'langchain.request',
      kind: 'final',
      advice: 'Fix the messages, prompt or tools that the message names.',
      tokens: ['INVALID_PROMPT_INPUT', 'INVALID_TOOL_RESULTS', 'MESSAGE_COERCION_FAILURE'],
      says: phrases(`
        missing value for input, missing variables, unable to coerce message, unknown message type
      `),
    },
    {
      code: 'langgraph.graph',
      kind: 'final',
      advice: 'Fix the graph: this is a mistake in its nodes, edges or channels.',
      tokens: words(`
        INVALID_CONCURRENT_GRAPH_UPDATE INVALID_GRAPH_NODE_RETURN_VALUE MULTIPLE_SUBGRAPHS INVALID_CHAT_HISTORY
        MISSING_CHECKPOINTER UNREACHABLE_NODE
      `),
      names: words(`
        InvalidUpdateError GraphValueError EmptyInputError EmptyChannelError NodeInvalidError UnreachableNodeError
        MultipleSubgraphsError InvalidChatHistoryError
      `),
      says: phrases(`
        expected node .. to update at least one, lastvalue can only receive one value per step, can receive only
        one value per step
      `),
      rank: RANK.code,
    },
    {
      code: 'langgraph.recursion',
      kind: 'final',
      advice: 'Give the graph an end it can reach, or raise recursionLimit.',
      tokens: ['GRAPH_RECURSION_LIMIT', 'GraphRecursionError'],
      says: ['recursion limit of'],
      rank: RANK.code,
    },
    {
      code: 'langgraph.interrupt',
      kind: 'interrupted',
      advice: 'Nothing: the graph waits for its answer and goes on from there.',
      names: ['GraphInterrupt', 'NodeInterrupt', 'GraphBubbleUp', 'ParentCommand'],
      rank: RANK.code,
    },
    {
      code: 'langchain.max-iterations',
      kind: 'exhausted',
      advice: 'Raise the iteration limit, or simplify the task.',
      says: ['agent stopped due to max iterations', 'agent stopped due to iteration limit'],
    },
  ],
}
