#include "addnorm/data/sentences.h"

namespace addnorm {
namespace {

constexpr std::string_view kSentences[] = {
    "The old ferry left the harbour an hour before dawn, carrying nothing but mail, two goats and a doctor who could not swim.",
    "\"You said the key was under the mat,\" she whispered, \"but there has never been a mat.\"",
    "Heavy rain is expected along the coast tonight, with gusts of up to sixty miles an hour on higher ground.",
    "Beat the eggs with the sugar until they are pale, then fold in the flour and bake for thirty-five minutes.",
    "When light passes from air into water it slows down, and so a straw in a glass looks broken at the surface.",
    "The tenant shall keep the premises in good repair and shall return all keys on or before the last day of the term.",
    "Dear Martha, thank you for the photographs; your mother looks exactly as I remember her, only kinder.",
    "Shares of the company fell by four percent after it reported lower sales for the third quarter in a row.",
    "A train leaves the station at nine with 120 passengers; at the first stop 35 get off and 18 get on.",
    "Somewhere behind the barn a dog began to bark, and did not stop until the moon had gone down.",
    "Press and hold the power button for five seconds, wait for the green light, and then release it.",
    "The committee voted seven to two against the proposal, mainly because nobody could say what it would cost.",
    "Honey bees tell one another where flowers are by dancing on the comb in the dark of the hive.",
    "He had been the best goalkeeper in the county once, and he still stood as if a ball might come from anywhere.",
    "If x is greater than zero and y is less than x, then the difference between them must be positive.",
    "Nobody in the village knew who had painted the bridge blue, although everyone had an opinion.",
    "The patient was given ten milligrams twice a day and reported no further pain after the first week.",
    "In 1848 the river rose eleven feet in a single night and carried the mill, the miller's cart and most of the orchard away.",
    "Could you please send me the final version of the contract before noon on Thursday?",
    "Copper conducts electricity far better than iron, which is one reason why almost all wiring is made of it.",
    "\"Three tickets to the end of the line,\" said the boy, and counted the coins twice.",
    "Our museum is open from ten until five every day except Monday, and children under twelve are free.",
    "The function returns the number of words in a text, or minus one if the file could not be opened.",
    "Snow fell all through the wedding, so the guests danced in their coats and the band played in gloves.",
    "Under the new law, anyone who sells used cars must say in writing how many miles each of them has been driven.",
    "The whale dived without a sound, and for a long time there was only the flat grey sea.",
    "Good soil is made of sand, clay and rotted leaves, with enough air between them for roots to breathe.",
    "My grandfather could mend any clock in the world, but he was late for every meal of his life.",
    "The city council will meet on Tuesday evening to discuss the closing of two schools and the price of water.",
    "First loosen the four screws at the back, then lift the cover and look for a small white connector.",
    "She won the election by fewer than three hundred votes, and her opponent asked for a second count.",
    "Most of the stars that can be seen without a telescope are larger and brighter than our own sun.",
    "There were two doors at the end of the corridor, one of them locked and the other not quite closed.",
    "Interest is paid at the end of each month on the lowest amount that was in the account during it.",
    "The bread was stale, the soup was cold, and yet it was the happiest dinner that they had ever had.",
    "Turn left at the church, go over the railway, and you will see our house behind three tall trees.",
    "Sound needs something to travel through, whether air, water or steel; in empty space there is silence.",
    "The general sent a second messenger, because the first had stopped at an inn and told everyone the plan.",
    "We regret that flight 617 has been delayed by about two hours owing to fog at the airport of departure.",
    "What is the use of a map, the child asked, if it does not show where the wind comes from?",
};

}  // namespace

std::span<const std::string_view> sentences() { return kSentences; }

}  // namespace addnorm
