// Ids as they stand in a path, documents as they stand in the store, and the JSON of a user.

using System.Text;
using System.Text.Json;
using Levelfield.Shared;
using MongoDB.Bson;

namespace Levelfield.Tests;

public sealed class UserTests
{
    private static readonly JsonSerializerOptions Json = new() { Encoder = new JsonStringEncoder() };

    [Theory]
    [InlineData("0", 0)]
    [InlineData("007", 7)]
    [InlineData("0000000001", 1)]
    [InlineData("2147483647", int.MaxValue)]
    public void One_to_ten_digits_are_an_id(string text, int expected)
    {
        Assert.True(UserId.TryParse(text, out var id));
        Assert.Equal(expected, id);
    }

    [Theory]
    [InlineData("")]
    [InlineData("-1")]
    [InlineData("+1")]
    [InlineData(" 1")]
    [InlineData("1 ")]
    [InlineData("1.0")]
    [InlineData("1e1")]
    [InlineData("1,0")]
    [InlineData("abc")]
    [InlineData("\u0661")]
    [InlineData("2147483648")]
    [InlineData("00000000001")]
    public void All_else_is_none(string text) => Assert.False(UserId.TryParse(text, out _));

    [Fact]
    public void Extra_fields_of_a_document_are_ignored()
    {
        var document = BsonDocument.Parse("""{"_id": 9, "name": "Tilly", "surname": "", "email": "t@mail.com", "age": 27}""");

        Assert.True(User.TryRead(9, document, out var user, out _));
        Assert.Equal(new User(9, "Tilly", "", "t@mail.com"), user);
    }

    [Theory]
    [InlineData("""{"surname": "s", "email": "e"}""", "name")]
    [InlineData("""{"name": 42, "surname": "s", "email": "e"}""", "name")]
    [InlineData("""{"name": "n", "surname": null, "email": "e"}""", "surname")]
    [InlineData("""{"name": "n", "surname": "s", "email": ["e"]}""", "email")]
    public void The_first_malformed_field_is_named(string document, string field)
    {
        Assert.False(User.TryRead(1, BsonDocument.Parse(document), out _, out var malformed));
        Assert.Equal(field, malformed);
    }

    [Fact]
    public void Json_has_the_fields_in_order_and_escapes_no_more_than_it_must()
    {
        var user = new User(4, "Zoë O'Neil & <Sons>+\u00a0\u3000", "\"\\/", "\b\t\n\f\r\u0001\u001f");

        var json = Encoding.UTF8.GetString(JsonSerializer.SerializeToUtf8Bytes(user, Json));

        Assert.Equal(
            "{\"Id\":4,\"Name\":\"Zoë O'Neil & <Sons>+\u00a0\u3000\",\"Surname\":\"\\\"\\\\/\","
                + "\"Email\":\"\\b\\t\\n\\f\\r\\u0001\\u001f\"}",
            json);
    }
}
