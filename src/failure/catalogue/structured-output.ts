/**
 * Structured model output: answers that do not parse, do not fit the schema, were cut off, or are empty.
 * Malformed is `syntax`, well-formed but wrong is `semantic`; an HTML page where JSON was due is the server's fault, not the model's.
 */
import { type Family, phrases, RANK, words } from '../rule.ts'

const PARSE = 'Repair the answer locally, or ask again with the parse error.'
const FIT = 'Ask again with the rejected paths and reasons, or use a stronger model.'

export const structuredOutput: Family = {
  name: 'output',
  cases: [
    {
      code: 'output.parse',
      kind: 'syntax',
      advice: PARSE,
      names: words(`
        JSONDecodeError json.decoder.JSONDecodeError JSONError JsonParseError ParseError JsonSyntaxException
        JSONRepairError
      `),
      tokens: words(`
        json_invalid invalid_json json_parse_error INVALID_JSON JSON_PARSE_ERROR UNEXPECTED_TOKEN
      `),
      says: phrases(`
        is not valid json, not valid json, in json at position, unexpected end of json input, unexpected token ..
        in json, unterminated string in json, unterminated string, in json at, bad control character in string
        literal, expected property name, expected double quoted property name, after property value in json, after
        array element in json, bad escaped character in json, unexpected non whitespace character after json, no
        number after minus sign in json, expecting value line, expecting property name enclosed, expecting ..
        delimiter line, extra data line, invalid control character at, invalid escape line, unterminated string
        starting at, json parsing failed, json parse error, json parse failed, failed to parse json, could not
        parse json, cannot parse json, invalid json, malformed json, json decode error, invalid json output, json
        markdown, json_invalid, error parsing json, unable to parse json, no json found, no json object, does not
        contain valid json, did not return valid json, eof while parsing, trailing characters at line, key must be
        a string at line, expected value at line, unexpected end of input, unexpected eof, colon expected at
        position, object key expected at position, quote expected at position, comma expected at position,
        unexpected end of json string, looking for beginning of, after top level value, after object key, in
        string literal, is not json, failed to extract json, response is not json, not a valid json, valid json
        object, not parseable as json, no json block, no json in, contained no json, contains no json, no valid json, parsing llm response, parse llm response, response as
        json, output as json, answer as json
      `),
      never: ['html'],
      rank: RANK.code,
    },
    {
      code: 'output.parse',
      name: 'syntax-error',
      kind: 'syntax',
      advice: PARSE,
      names: ['SyntaxError'],
      hints: phrases(`
        unexpected token, could not parse, failed to parse, unable to parse, parsing failed, cannot parse, parse
        error, unparsable, unparseable, not produce a valid, not generate a valid, not return a valid
      `),
      never: ['html', 'bigquery', 'postgres', 'mysql', 'mssql', 'sqlite', 'redis', 'mongodb'],
      rank: RANK.hint,
    },
    {
      code: 'output.html',
      kind: 'transient',
      advice: 'An HTML page came where JSON was due: a proxy’s error page, or the wrong address.',
      says: phrases(`
        unexpected token .. doctype, unexpected token .. html, doctype html, doctype .. is not valid json
      `),
      only: ['html'],
      rank: RANK.guess + 2,
    },
    {
      code: 'output.schema',
      kind: 'semantic',
      advice: FIT,
      fields: ['missing', 'additionalProperties', 'required'],
      names: words(`
        ZodError $ZodError ValidationError pydantic.ValidationError pydantic_core.ValidationError
        AjvValidationError InstructorRetryException UnexpectedModelBehavior ModelRetry StandardSchemaError
        SchemaError JSONSchemaValidationError ValiError YupError ModelBehaviorError
      `),
      tokens: words(`
        invalid_union too_small too_big invalid_enum_value invalid_literal unrecognized_keys invalid_string
        invalid_format invalid_key invalid_element string_type value_error schema_validation_failed
        response_validation_error
      `),
      says: phrases(`
        did not match schema, does not match schema, does not match the schema, does not match the expected
        schema, schema validation failed, schema mismatch, validation error for, validation errors for, must have
        required property, type validation failed, must match exactly one schema, failed schema validation, must
        not have additional properties, missing required field, missing required fields, gate validation failed,
        response does not match, output does not match, not conform to the schema, data must have, invalid input
        expected, missing field .. at line, invalid type .. expected .. at line, did not match the expected, does
        not conform to, failed validation against, validation failed for, exceeded maximum retries .. output
        validation, exceeded maximum retries .. result validation, output validation, tool call .. invalid
        arguments, response failed validation, output failed validation, answer failed validation, expected *
        received
      `),
      rank: RANK.says - 4,
    },
    {
      code: 'output.truncated',
      kind: 'syntax',
      advice: 'Raise the output token limit or ask for less in one answer.',
      fields: ['max_tokens', 'length', 'max_output_tokens'],
      tokens: words(`
        MAX_TOKENS MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL MALFORMED_RESPONSE
      `),
      names: ['LengthFinishReasonError', 'IncompleteOutputException'],
      says: phrases(`
        length limit was reached, max_tokens length limit, output is incomplete due to a max_tokens, finish reason
        max_tokens, finishreason max_tokens, finish_reason length, finish reason length, finishreason length,
        response was truncated, output was truncated, answer was cut, malformed_function_call, malformed function
        call, model output limit, output token maximum, exceeded the .. output token, finish_reason is 2, output
        token limit, maximum output length, complete request max_output_tokens, response was cut
        off, answer was cut off, output was cut off, maximum output tokens reached
      `),
      rank: RANK.says + 1,
    },
    {
      code: 'output.empty',
      kind: 'syntax',
      advice: 'Ask again: the model gave no answer.',
      names: ['NoOutputGeneratedError', 'NoContentGeneratedError'],
      says: phrases(`
        no output generated, no content generated, empty response, response is empty, did not return a response,
        returned no content, empty output, empty answer, empty string response, contained no text, no candidates
        returned, response had no candidates, no text in response, neither text nor tool, output text or tool
        calls, model output must contain, empty text stream, response candidate content has no parts,
        did not provide any assistant, no tool calls found, no tool call found
      `),
      rank: RANK.says - 2,
    },
  ],
}
